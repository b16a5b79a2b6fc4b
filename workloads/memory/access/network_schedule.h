// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/access/access_schedule.h"
#include "workloads/network/network.h"

#include <cstdint>
#include <span>

namespace switchfold {

/// Kernels of a layer for one batch, alone on the GPU, seconds.
struct LayerTimes {
    double forward = 0;
    double input_gradient = 0;
    double weight_gradient = 0;
    double update = 0;
};

struct NetworkScheduleOptions {
    std::uint32_t batch = 1;
    std::uint64_t element = 4;   ///< bytes of a weight and of an activation
    std::uint64_t gradient = 4;  ///< bytes of a weight's gradient
    std::uint64_t moments = 8;   ///< bytes a parameter: 8 Adam, 4 momentum; 4 more beside 16 bits
    /// Each layer's update follows its gradient, whose buffer the next layer takes over; else
    /// updates follow the backward pass and all gradients stay until then.
    bool update_in_backward = false;
    bool weights_travel = false;  ///< they may be on the host too, as their moments may
    /// Memory for gradients of weights is set aside by itself: they are no items.
    bool gradients_apart = false;
    /// Layers whose updates follow a layer's backward as steps of their own, by that layer; where
    /// all are empty nobody updates here. Empty: as update_in_backward says.
    std::vector<std::vector<std::uint32_t>> updates_behind = {};
};

/// The iteration of a network on one GPU, layer by layer. Backward of a layer has open what it
/// reads of the forward pass (kept_tensors), the gradients of its output and inputs, its weights
/// and their gradients. Tensors that several layers read are closed and come back. Every layer has
/// an output of its own: nothing is computed in place and no gradient is a view of another. Weights
/// that several layers share have one gradient, which stays from its first layer to the update.
/// `times`: by layer; empty: none are known.
[[nodiscard]] AccessSchedule network_schedule(
    const Network& network,
    const NetworkScheduleOptions& options,
    std::span<const LayerTimes> times = {});

}  // namespace switchfold
