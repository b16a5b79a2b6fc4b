// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"
#include "workloads/graph/execution_graph.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace switchfold {

/// What of the state data-parallel ranks share.
enum class StateShards : std::uint8_t { kNone, kOptimizer, kAll };

struct StrategyMemoryOptions {
    StateShards shards = StateShards::kNone;
    std::uint32_t ranks = 1;
    std::uint32_t batch = 1;            ///< samples per rank
    std::uint64_t element = 2;          ///< bytes per weight and activation
    std::uint64_t channel_buffers = 0;  ///< bytes that the communicator's channels take
};

/// Peak memory of a rank of a training strategy, in bytes.
struct StrategyMemory {
    std::uint64_t weights = 0;
    std::uint64_t gradients = 0;
    std::uint64_t moments = 0;  ///< Adam's two, and a 32-bit copy of 16-bit weights
    std::uint64_t activations = 0;
    std::uint64_t buckets = 0;  ///< gradients that travel; fully sharded: also gathered weights
    std::uint64_t channels = 0;
    std::uint64_t allocator = 0;  ///< what the caching allocator reserves beyond the tensors

    [[nodiscard]] std::uint64_t all() const {
        return weights + gradients + moments + activations + buckets + channels + allocator;
    }
};

struct StrategyMemoryPart {
    std::string_view name;
    std::uint64_t StrategyMemory::*bytes;
};
inline constexpr std::array kStrategyMemoryParts{
    StrategyMemoryPart{"weights", &StrategyMemory::weights},
    StrategyMemoryPart{"moments", &StrategyMemory::moments},
    StrategyMemoryPart{"gradients", &StrategyMemory::gradients},
    StrategyMemoryPart{"activations", &StrategyMemory::activations},
    StrategyMemoryPart{"buckets", &StrategyMemory::buckets},
    StrategyMemoryPart{"channels", &StrategyMemory::channels},
    StrategyMemoryPart{"allocator", &StrategyMemory::allocator}};

/// `step`: the generated step, of any batch, whose collectives tell buckets and units. Weights and
/// gradients have the type of activations; gradients are held all along. Activations are what a
/// plan without recomputation keeps (kept_tensors.h). Fully sharded, a backward pass has two units'
/// weights gathered while one unit's gradients are computed and another's travel. Left out:
/// gradients of activations, libraries' workspaces.
[[nodiscard]] StrategyMemory strategy_memory(
    const Network& network, const ExecutionGraph& step, const StrategyMemoryOptions& options);

}  // namespace switchfold
