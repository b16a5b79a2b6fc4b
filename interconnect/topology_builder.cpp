// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topology_builder.h"

namespace switchfold {

Topology build_topology(const TopologyParams& params) {
    return std::visit([](const auto& p) { return p.build(); }, params);
}

}  // namespace switchfold
