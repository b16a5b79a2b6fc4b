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

/// Bytes of a layer's weights, gradients and moments that a GPU holds throughout the step: replicas
/// hold a part each of what the plan shards.
[[nodiscard]] MemoryBytes
state_of(const LayerWork& layers, const ParallelPlan& plan, std::uint32_t layer);

/// Layers of a block that one part repeats together before their backward.
struct RepeatedLayers {
    std::vector<std::uint32_t> layers;  ///< ascending
    double workspace = 0;               ///< bytes that they make again
};
/// Those of all parts (recomputed_layers()): each part repeats its own, and what they read of other
/// parts is kept.
[[nodiscard]] std::vector<RepeatedLayers> repeated_layers(
    const Network& network, const LayerWork& layers, const ParallelPlan& plan,
    const NodeParts& parts);

/// Bytes that a layer produces and keeps on its own part for its backward, whatever the other parts
/// are.
[[nodiscard]] double kept_where_made(
    const Network& network, const LayerWork& layers, const ParallelPlan& plan, std::uint32_t layer);

/// By layer, the bytes that a micro-batch's forward adds to what its part keeps for backward. A
/// tensor kept for several layers of a part counts once, even if it came from another part. Of
/// layers that are repeated only what others made is kept.
[[nodiscard]] std::vector<double> kept_by_layer(
    const Network& network, const LayerWork& layers, const ParallelPlan& plan,
    const NodeParts& parts);

/// By GPU, the memory held throughout the step.
[[nodiscard]] std::vector<MemoryBytes> held_all_along(
    const PlacementGraph& graph, const LayerWork& layers, const ParallelPlan& plan,
    const NodeParts& parts);

/// By GPU, the peak memory, assuming that all micro-batches' activations are held at the same time.
[[nodiscard]] std::vector<MemoryBytes> placement_memory(
    const Network& network, const PlacementGraph& graph, const LayerWork& layers,
    const ParallelPlan& plan, const NodeParts& parts);

}  // namespace switchfold
