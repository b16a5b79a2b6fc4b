// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"
#include "models/collectives/peer_copies/reduce_tree.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// How these ranks reach each other: links are hops (hop.h). A pair without a way has none.
[[nodiscard]] Wiring wiring_of(const Topology& topology, const std::vector<std::uint32_t>& ranks);

}  // namespace switchfold
