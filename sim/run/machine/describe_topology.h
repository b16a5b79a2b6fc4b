// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"
#include "sim/core/units.h"

#include <string>

namespace switchfold {

/// Nodes and links by kind, bisection, diameter, rings, and the bus bandwidth that no all-reduce
/// over all GPUs can exceed with writes of `transfer_unit`.
[[nodiscard]] std::string describe_topology(const Topology& topology, Bytes transfer_unit);

/// The graph in Graphviz' language: machines as boxes, widths of links by their lanes.
[[nodiscard]] std::string draw_topology(const Topology& topology, const std::string& name);

}  // namespace switchfold
