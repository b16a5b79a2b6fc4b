// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Rings over `ranks`, each an order of all of them. Neighbours are joined by a direct edge, and no
/// lane is used twice in one direction. \returns as many rings as are found; empty if there is
/// none.
/// - GPUs that hang on switches: every order is as good, so one ring in the given order.
/// - No ring over direct edges, and a topology with relays: one of the group's GPUs may stand
///   between neighbours, and its lanes count, too (NCCL's search falls back to NVB,
///   graph/search.cc).
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
find_rings(const Topology& topology, const std::vector<std::uint32_t>& ranks);

}  // namespace switchfold
