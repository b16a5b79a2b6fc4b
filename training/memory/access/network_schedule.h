// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/device_passes.h"
#include "training/memory/access/tensor_uses.h"
#include "training/network/network.h"
#include "training/plan/step/recomputed_layers.h"

#include <cstdint>
#include <span>

namespace switchfold {

/// Isolated kernel times of a layer for one batch, in seconds.
struct LayerTimes {
    double forward = 0;
    double input_gradient = 0;
    double weight_gradient = 0;
    double update = 0;
};

struct NetworkScheduleOptions {
    std::uint32_t batch = 1;
    std::uint64_t element = 4;   ///< bytes per weight and per activation
    std::uint64_t gradient = 4;  ///< bytes per weight gradient
    std::uint64_t moments =
        8;  ///< bytes per parameter: 8 for Adam, 4 for momentum; 4 more with 16-bit weights
    std::uint32_t moment_shards = 1;  ///< ranks that share the moments (ZeRO 1)
    std::uint32_t micro_batches = 1;  ///< per update; each uses the memory of the one before
    /// Layers, ascending, of which what they read from outside is kept alone, and which run again
    /// right before their backward; what that makes is scratch until their backward has ended. So
    /// is what a block alone reads, while it is needed: outputs of its first forward, and
    /// gradients.
    std::vector<LayerRange> again = {};
    std::uint64_t kept_of_score = 0;  ///< bytes that attention keeps of each; 0: it is fused
    /// Each layer's update follows its gradient, whose buffer the next layer reuses; otherwise
    /// updates follow the backward pass and all gradients are kept until then.
    bool update_in_backward = false;
    bool weights_travel = false;  ///< weights may be on the host too, like moments
    /// Memory for weight gradients is reserved separately: they are no items.
    bool gradients_apart = false;
    /// By layer, the layers whose updates follow its backward as separate steps; if all lists are
    /// empty, the schedule has no updates. Empty: as update_in_backward says.
    std::vector<std::vector<std::uint32_t>> updates_behind = {};
    /// One device's passes of its stages, in order, instead of the whole network's; then
    /// gradients are apart, and updates are passes. Empty: forward and backward of each
    /// micro-batch.
    std::vector<DevicePass> passes = {};
    std::vector<std::uint32_t> layer_shards = {};  ///< by layer; empty: moment_shards
    bool weights_divided = false;                  ///< into as many parts as moments (ZeRO 3)
    [[nodiscard]] std::uint32_t shards_of(std::uint32_t layer) const {
        return layer_shards.empty() ? moment_shards : layer_shards[layer];
    }
};

/// The iteration of a network on one GPU, layer by layer. A layer's backward opens what it reads of
/// the forward pass (kept_tensors), the gradients of its output and inputs, and its weights with
/// their gradients. Tensors that several layers read are closed and reopened. Every layer has its
/// own output: nothing is computed in place, and no gradient is a view of another. Weights shared
/// by several layers have one gradient, which stays open from its first layer to the update.
/// `times`: by layer; empty: unknown.
[[nodiscard]] TensorUses network_schedule(
    const Network& network, const NetworkScheduleOptions& options,
    std::span<const LayerTimes> times = {});

}  // namespace switchfold
