// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// A number by node, equal for nodes that neither their own kind nor what is around them tells
/// apart: as many neighbours of each kind, over links of as many lanes of each class that are up,
/// and so on outwards (colour refinement). In a symmetric fabric these are nodes of one role; a
/// link unlike the others makes the nodes around it unlike theirs.
[[nodiscard]] std::vector<std::uint32_t> kinds_of_nodes(const Topology& topology);

}  // namespace switchfold
