// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/access/network_schedule.h"
#include "workloads/memory/recompute/recompute_chain.h"

#include <span>
#include <vector>

namespace switchfold {

struct NetworkChainOptions {
    std::uint32_t batch = 1;
    std::uint64_t element = 2;       ///< bytes
    bool unfused_attention = false;  ///< scores, softmax and dropout from memory to memory
};

/// A network as a chain: a repeated block a unit, a layer a unit outside of blocks. What crosses
/// into a unit is all that later layers read of earlier ones. `times`: by layer; empty: none.
[[nodiscard]] std::vector<ChainUnit> network_chain(
    const Network& network,
    const NetworkChainOptions& options,
    std::span<const LayerTimes> times = {});

}  // namespace switchfold
