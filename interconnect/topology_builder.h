// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topologies/cluster.h"
#include "interconnect/topologies/direct.h"
#include "interconnect/topologies/switched.h"
#include "interconnect/topology.h"
#include "sim/core/params.h"

#include <variant>

namespace switchfold {

using TopologyParams = std::
    variant<SwitchedTopology, BoardsTopology, DirectTopology, FullMeshTopology, ClusterTopology>;

[[nodiscard]] Topology build_topology(const TopologyParams& params);
[[nodiscard]] inline Topology build_topology(const PathOr<TopologyParams>& params) {
    return build_topology(*params);
}

}  // namespace switchfold
