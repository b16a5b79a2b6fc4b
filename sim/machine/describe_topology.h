// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "interconnect/topology.h"

#include <string>
#include <string_view>

namespace switchfold {

/// What people call a node of this kind.
[[nodiscard]] std::string_view word_of(NodeKind kind);

/// Nodes and links by kind, bisection, diameter, rings, and upper bounds on the bus bandwidth of an
/// all-reduce over all GPUs with writes of `transfer_unit`.
[[nodiscard]] std::string describe_topology(const Topology& topology, Bytes transfer_unit);

/// The graph in Graphviz's language, with machines as boxes and line widths by number of lanes.
[[nodiscard]] std::string draw_topology(const Topology& topology, const std::string& name);

}  // namespace switchfold
