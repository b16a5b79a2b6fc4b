// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// A layer as the planner sees it, for one mini-batch on one worker.
struct PlannerLayer {
    double seconds = 0;       ///< forward, backward, and its share of an update
    double output_bytes = 0;  ///< crosses a cut behind the layer
    double weight_bytes = 0;
    double kept_bytes = 0;  ///< held from forward to backward
    double kept_before =
        0;  ///< of these, tensors that earlier layers hold: a stage holds them once
};

/// A level of the machine's hierarchy, innermost first: pairs in a server, servers in a rack.
struct PlannerLevel {
    std::uint32_t workers = 1;  ///< in one unit of this level
    double bandwidth = 0;       ///< bytes per second between workers of a unit
};

struct PartitionOptions {
    std::uint32_t workers = 1;
    /// A unit of the last level holds all workers.
    std::vector<PlannerLevel> levels;
    double memory = 0;  ///< bytes per worker; 0: unlimited
    /// Workers of each stage, with sum `workers`; empty: the planner chooses.
    std::vector<std::uint32_t> replicas;
};

struct PlannedStage {
    std::uint32_t first = 0;     ///< index of the first layer
    std::uint32_t replicas = 1;  ///< workers that take mini-batches in turn
    bool operator==(const PlannedStage&) const = default;
};
struct PlannedPipeline {
    std::vector<PlannedStage> stages;
    double seconds =
        0;  ///< per mini-batch, at the steady pace: that of the slowest stage or message
};

/// Finds the pipeline with the least time per mini-batch (Narayanan et al., PipeDream 2019, section
/// 3.1). A stage on m workers takes the longer of its layers' time and its all-reduce of 4 (m - 1)
/// / m times its weights, divided by m. A message is sent forward and its gradient back. Workers
/// are assigned in order, so the level that each stage or message spans is known. A stage needs
/// memory for its weights and, for every mini-batch in flight, for the activations kept. Exact, in
/// O(layers^2 workers^2), but that a tensor that skips layers counts in the stage that made it
/// alone. Nothing if no pipeline fits in memory.
[[nodiscard]] std::optional<PlannedPipeline>
plan_pipeline(const std::vector<PlannerLayer>& layers, const PartitionOptions& options);

/// Time per mini-batch of given stages; nothing if they do not fit in memory.
[[nodiscard]] std::optional<double> seconds_of(
    const std::vector<PlannerLayer>& layers, const PartitionOptions& options,
    const std::vector<PlannedStage>& stages);

}  // namespace switchfold
