// SPDX-License-Identifier: Apache-2.0
#include "sim/run/machine/system_queries.h"

#include "interconnect/reduction_tree.h"

#include <numeric>
#include <vector>

namespace switchfold {

std::uint32_t gpus_of(const SystemParams& system) {
    return build_topology(system.topology).gpus();
}

bool can_reduce_in_switch(const SystemParams& system, std::uint32_t ranks) {
    std::vector<std::uint32_t> members(ranks);
    std::iota(members.begin(), members.end(), 0U);
    return why_no_reduction(build_topology(system.topology), members).empty();
}

}  // namespace switchfold
