// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/network_schedule.h"
#include "training/memory/recompute/recompute_chain.h"

#include <span>
#include <vector>

namespace switchfold {

struct NetworkChainOptions {
    std::uint32_t batch = 1;
    std::uint64_t element = 2;        ///< bytes per element
    std::uint64_t kept_of_score = 0;  ///< bytes that attention keeps of each; 0: it is fused
};

/// A network as a chain: one unit per repeated block, and per layer outside blocks. A unit's input
/// is everything that it and later layers read of earlier ones. `times`: by layer; empty: unknown.
[[nodiscard]] std::vector<ChainUnit> network_chain(
    const Network& network, const NetworkChainOptions& options,
    std::span<const LayerTimes> times = {});

}  // namespace switchfold
