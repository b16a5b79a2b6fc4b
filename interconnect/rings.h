// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Rings over `ranks`, each the order in which data goes round, such that neighbours are joined by
/// a direct edge and no lane is used twice in one direction: as many as are found. Where GPUs hang
/// on switches every order is as good, and one ring of the given order comes back. Empty if direct
/// edges allow no ring.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
find_rings(const Topology& topology, const std::vector<std::uint32_t>& ranks);

}  // namespace switchfold
