// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Rings over `ranks`, each the order in which data goes round, such that neighbours are joined by
/// a direct edge and no lane is used twice in one direction: as many as are found. Where GPUs hang
/// on switches every order is as good, and one ring of the given order comes back. Where direct
/// edges allow no ring and the topology has relays, neighbours may have one of the group's GPUs
/// between them, whose lanes count too: as NCCL's search falls back to NVB (graph/search.cc). Empty
/// if there is no ring at all.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
find_rings(const Topology& topology, const std::vector<std::uint32_t>& ranks);

}  // namespace switchfold
