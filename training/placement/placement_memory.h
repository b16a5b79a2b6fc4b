// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/memory_classes.h"
#include "training/network/network.h"
#include "training/placement/placement_graph.h"
#include "training/plan/step/layer_work.h"
#include "training/plan/step/parallel_plan.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Bytes of weights, gradients and moments of `parameters` parameters.
[[nodiscard]] double state_bytes(double parameters, const ParallelPlan& plan);

/// Bytes that a layer produces and keeps on its own part for its backward, whatever the other parts
/// are.
[[nodiscard]] double kept_where_made(
    const Network& network, const LayerWork& layers, const ParallelPlan& plan, std::uint32_t layer);

/// By layer, the bytes that a micro-batch's forward adds to what its part keeps for backward. A
/// tensor kept for several layers of a part counts once, even if it came from another part.
[[nodiscard]] std::vector<double> kept_by_layer(
    const Network& network, const LayerWork& layers, const ParallelPlan& plan,
    const NodeParts& parts);

/// By GPU, the memory held throughout the step.
[[nodiscard]] std::vector<MemoryBytes> held_all_along(
    const PlacementGraph& graph, const LayerWork& layers, const ParallelPlan& plan,
    const NodeParts& parts);

/// By GPU, the peak memory, assuming that all micro-batches' activations are held at the same time.
[[nodiscard]] std::vector<MemoryBytes> cut_memory(
    const Network& network, const PlacementGraph& graph, const LayerWork& layers,
    const ParallelPlan& plan, const NodeParts& parts);

}  // namespace switchfold
