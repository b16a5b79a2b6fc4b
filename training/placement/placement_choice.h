// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// How a network's layers are assigned to parts.
enum class PlacementMethod : std::uint8_t {
    kExact,  ///< minimises the busiest part, by dynamic programming over down-sets; proven optimal
    kList,   ///< list scheduling: each layer goes where it ends first
    kBest,   ///< starts from both of these and moves layers while the step gets shorter
};
inline constexpr std::array<std::pair<PlacementMethod, std::string_view>, 3> kPlacementMethodNames{
    {{PlacementMethod::kExact, "exact"},
     {PlacementMethod::kList, "list"},
     {PlacementMethod::kBest, "best"}}};

/// Where an LSTM's time steps, except the first of a chunk, read its weights from.
enum class LstmWeights : std::uint8_t {
    kL2,      ///< from the L2, as far as they fit
    kMemory,  ///< from memory in every step
};
inline constexpr std::array<std::pair<LstmWeights, std::string_view>, 2> kLstmWeightsNames{
    {{LstmWeights::kL2, "l2"}, {LstmWeights::kMemory, "memory"}}};

/// A network divided by layers and branches. Each part is a stream of a GPU. Messages travel along
/// each edge of the network that leaves a GPU: activations forward, gradients back.
struct PlacementChoice {
    std::uint32_t parts = 2;
    /// For each part its layers, each as a name, or the beginning of names and "*"; a layer follows
    /// the longest match. Empty: chosen by the method.
    std::vector<std::vector<std::string>> layers;
    std::uint32_t gpus = 0;  ///< that share the parts evenly; 0: one per part
    PlacementMethod method = PlacementMethod::kBest;
    /// Time steps after which an LSTM, and layers that follow it step by step, pass their output
    /// on; 0: after the last.
    std::uint32_t chunk_steps = 0;
    LstmWeights lstm_weights = LstmWeights::kL2;
    /// Assumed latency of a message while choosing the cut; simulated messages take their own time.
    Time message_latency = microseconds(10);

    [[nodiscard]] std::uint32_t gpus_used() const { return gpus == 0 ? parts : gpus; }
    /// GPU of a part; adjacent parts share a GPU.
    [[nodiscard]] std::uint32_t gpu_of(std::uint32_t part) const {
        return part / (parts / gpus_used());
    }
};

}  // namespace switchfold
