// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// How a network's layers are shared out among parts.
enum class CutMethod : std::uint8_t {
    kExact,  ///< the least busiest part, by a programme over down-sets: proven
    kList,   ///< list scheduling: layer by layer where it ends first
    kBest,   ///< from both of these, layer by layer moved as long as the step gets shorter
};
inline constexpr std::array<std::pair<CutMethod, std::string_view>, 3> kCutMethodNames{
    {{CutMethod::kExact, "exact"}, {CutMethod::kList, "list"}, {CutMethod::kBest, "best"}}};

/// Where an LSTM's time steps but the first of a chunk read its weights.
enum class LstmWeights : std::uint8_t {
    kL2,      ///< there, as far as they fit
    kMemory,  ///< every step from memory
};
inline constexpr std::array<std::pair<LstmWeights, std::string_view>, 2> kLstmWeightsNames{
    {{LstmWeights::kL2, "l2"}, {LstmWeights::kMemory, "memory"}}};

/// A network divided by layers and branches. Each part is a stream of a GPU; its messages go
/// wherever an edge of the network leaves the GPU, activations forward and gradients back.
struct CutChoice {
    std::uint32_t parts = 2;
    /// By part the layers that are on it, each a name or the beginning of names and "*"; the
    /// longest that fits a layer decides. Empty: as the method says.
    std::vector<std::vector<std::string>> layers;
    std::uint32_t gpus = 0;  ///< that share the parts evenly; 0: one each
    CutMethod method = CutMethod::kBest;
    /// Time steps after which an LSTM, and what follows it step by step, hands on what it has; 0:
    /// after the last.
    std::uint32_t chunk_steps = 0;
    LstmWeights lstm_weights = LstmWeights::kL2;
    /// What a message takes beside its bytes, where the cut is chosen; simulated ones take what
    /// they take.
    Time message_latency = microseconds(10);

    [[nodiscard]] std::uint32_t gpus_used() const { return gpus == 0 ? parts : gpus; }
    /// The GPU of a part; neighbours share one.
    [[nodiscard]] std::uint32_t gpu_of(std::uint32_t part) const {
        return part / (parts / gpus_used());
    }
};

}  // namespace switchfold
