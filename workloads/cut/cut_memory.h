// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/memory_classes.h"
#include "workloads/cut/cut_graph.h"
#include "workloads/network/network.h"
#include "workloads/plan/step/layer_work.h"
#include "workloads/plan/step/parallel_plan.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Weights, gradients and moments of so many parameters.
[[nodiscard]] double state_bytes(double parameters, const ParallelPlan& plan);

/// What a layer's backward, on whatever part, needs of the layer's own making on its own part.
[[nodiscard]] double kept_where_made(
    const Network& network, const LayerWork& layers, const ParallelPlan& plan, std::uint32_t layer);

/// By layer the bytes that a micro-batch's forward adds to what its part keeps for backward: what a
/// part keeps several times is added once, what it got from another part too.
[[nodiscard]] std::vector<double> kept_by_layer(
    const Network& network,
    const LayerWork& layers,
    const ParallelPlan& plan,
    const NodeParts& parts);

/// By GPU what it holds from begin to end.
[[nodiscard]] std::vector<MemoryBytes> held_all_along(
    const CutGraph& graph,
    const LayerWork& layers,
    const ParallelPlan& plan,
    const NodeParts& parts);

/// By GPU, at its fullest, if all micro-batches' activations are there at the same time, as they
/// may be.
[[nodiscard]] std::vector<MemoryBytes> cut_memory(
    const Network& network,
    const CutGraph& graph,
    const LayerWork& layers,
    const ParallelPlan& plan,
    const NodeParts& parts);

}  // namespace switchfold
