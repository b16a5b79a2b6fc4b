// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/network/network.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Which layers work time step by time step, and in which pieces: LSTMs, and what reads them token
/// by token (products of one input, norms, element-wise layers, losses). What an LSTM reads is made
/// at once. Attention, pools, slices and the like need all time steps.
class LayerChunks {
public:
    /// Pieces of so many steps, the last of what is left; 0: of all.
    LayerChunks(const Network& network, std::uint32_t chunk_steps);

    [[nodiscard]] bool by_steps(std::uint32_t layer) const { return by_steps_[layer]; }
    /// Of a layer: 1 where it does not work by steps.
    [[nodiscard]] std::uint32_t chunks(std::uint32_t layer) const {
        return by_steps_[layer] ? count_ : 1;
    }
    /// Pieces of the layers that work by steps.
    [[nodiscard]] std::uint32_t count() const { return count_; }
    [[nodiscard]] std::uint64_t steps(std::uint32_t chunk) const {
        return chunk + 1 < count_ ? steps_ : steps_of_last_;
    }
    /// The network with such layers cut down to so many steps; the others as they are.
    [[nodiscard]] Network of_steps(const Network& network, std::uint64_t steps) const;

private:
    std::vector<bool> by_steps_;
    std::uint32_t count_ = 1;
    std::uint64_t steps_ = 0;
    std::uint64_t steps_of_last_ = 0;
};

/// Whether a layer is an LSTM whose time steps are known.
[[nodiscard]] bool is_lstm_of_steps(const Network& network, std::uint32_t layer);

}  // namespace switchfold
