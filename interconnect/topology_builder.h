// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "interconnect/topologies/cluster.h"
#include "interconnect/topologies/direct.h"
#include "interconnect/topologies/graph.h"
#include "interconnect/topologies/pcie.h"
#include "interconnect/topologies/switched.h"
#include "interconnect/topologies/torus.h"
#include "interconnect/topology.h"

#include <variant>

namespace switchfold {

using TopologyParams = std::variant<
    SwitchedTopology, BoardsTopology, DirectTopology, FullMeshTopology, PcieTopology, TorusTopology,
    NetworkTopology, ClusterTopology, GraphTopology>;

/// With reduction units only where ReductionUnitParams::place says.
[[nodiscard]] Topology build_topology(const TopologyParams& params);
/// Whether its network between machines does something about congestion.
[[nodiscard]] bool minds_congestion(const TopologyParams& params);
/// Tells of units in places that the topology has not, with those that it has, at /topology.
void check_places(const TopologyParams& params, ParamChecker& checker);
[[nodiscard]] inline Topology build_topology(const PathOr<TopologyParams>& params) {
    return build_topology(*params);
}

}  // namespace switchfold
