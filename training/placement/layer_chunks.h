// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Layers that work by time steps, and their pieces: LSTMs, and layers that process an LSTM's
/// output token by token (products of one input, norms, element-wise layers, losses). The input of
/// an LSTM is produced at once. Attention, pools, slices and the like need all time steps.
class LayerChunks {
public:
    /// Pieces of `chunk_steps` steps, the last one with the remainder; 0: one piece.
    LayerChunks(const Network& network, std::uint32_t chunk_steps);

    [[nodiscard]] bool by_steps(std::uint32_t layer) const { return by_steps_[layer]; }
    /// Pieces of a layer; 1 if it does not work by steps.
    [[nodiscard]] std::uint32_t chunks(std::uint32_t layer) const {
        return by_steps_[layer] ? count_ : 1;
    }
    /// Pieces of layers that work by steps.
    [[nodiscard]] std::uint32_t count() const { return count_; }
    [[nodiscard]] std::uint64_t steps(std::uint32_t chunk) const {
        return chunk + 1 < count_ ? steps_ : steps_of_last_;
    }
    /// The network with such layers reduced to `steps` time steps; the others are unchanged.
    [[nodiscard]] Network of_steps(const Network& network, std::uint64_t steps) const;

private:
    std::vector<bool> by_steps_;
    std::uint32_t count_ = 1;
    std::uint64_t steps_ = 0;
    std::uint64_t steps_of_last_ = 0;
};

/// Whether a layer is an LSTM with known time steps.
[[nodiscard]] bool is_lstm_of_steps(const Network& network, std::uint32_t layer);

}  // namespace switchfold
