// SPDX-License-Identifier: Apache-2.0
#include "interconnect/reduction_tree.h"

#include "interconnect/reduction_planner.h"

namespace switchfold {

ReductionPlan plan_reduction(const Topology& topology, std::span<const std::uint32_t> ranks) {
    return ReductionPlanner(topology).plan(ranks);
}

std::string why_no_reduction(const Topology& topology, std::span<const std::uint32_t> ranks) {
    return plan_reduction(topology, ranks).why_not;
}

}  // namespace switchfold
