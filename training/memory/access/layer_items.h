// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/network_schedule.h"
#include "training/memory/access/tensor_uses.h"
#include "training/network/network.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace switchfold {

inline constexpr std::uint32_t kNoItem = std::numeric_limits<std::uint32_t>::max();

/// Items of a layer; kNoItem if it has none.
struct LayerItems {
    std::uint32_t input = kNoItem;  ///< the part of its input that is the network's own input
    std::uint32_t output = kNoItem;
    std::uint32_t mask = kNoItem;
    std::uint32_t scores = kNoItem;        ///< of attention through memory
    std::uint32_t output_again = kNoItem;  ///< of a repeated forward
    std::uint32_t mask_again = kNoItem;
    std::uint32_t output_gradient = kNoItem;
    std::uint32_t weights = kNoItem;
    std::uint32_t gradient = kNoItem;
    std::uint32_t moments = kNoItem;
    bool shared = false;  ///< another layer uses the same weights
    bool inside = false;  ///< of a repeated block: no layer outside of it reads the output
    std::uint32_t last_reader = 0;  ///< of the output; the layer itself: none
};

/// The items of a schedule, as its layers have them. A schedule that has micro-batches in flight
/// has several of those of activations, one after the other in `layers_`.
class LayerItemTable {
protected:
    LayerItemTable(const Network& network, const NetworkScheduleOptions& options);

    void add_activations(std::uint32_t layer);
    /// The output of another stage's layer, and its gradient.
    void add_output(std::uint32_t layer);
    void add_weights(std::uint32_t layer);
    /// The repeated block of a layer; null: none.
    [[nodiscard]] const LayerRange* block_of(std::uint32_t layer) const;
    [[nodiscard]] std::uint32_t owner(std::uint32_t layer) const;

    const Network& network_;
    const NetworkScheduleOptions& options_;
    std::vector<LayerItems> layers_;
    TensorUses schedule_;

private:
    std::uint32_t add(const std::string& name, MemoryClass kind, std::uint64_t bytes);
    void find_what_blocks_alone_read();
};

}  // namespace switchfold
