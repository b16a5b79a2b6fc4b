// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// A layer as the planner sees it, one mini-batch of one worker.
struct PlannerLayer {
    double seconds = 0;       ///< forward and backward
    double output_bytes = 0;  ///< what crosses a cut behind it
    double weight_bytes = 0;
    double kept_bytes = 0;  ///< from forward to backward
};

/// Workers that lie together, innermost level first: pairs in a server, servers in a rack.
struct PlannerLevel {
    std::uint32_t workers = 1;  ///< of one unit of this level
    double bandwidth = 0;       ///< bytes a second between workers of a unit
};

struct PlannerOptions {
    std::uint32_t workers = 1;
    /// The last level's unit holds all workers.
    std::vector<PlannerLevel> levels;
    double memory = 0;  ///< bytes a worker; 0: without limit
    /// Workers of each stage, which add up to `workers`; empty: the planner chooses.
    std::vector<std::uint32_t> replicas;
};

struct PlannedStage {
    std::uint32_t first = 0;     ///< layer
    std::uint32_t replicas = 1;  ///< workers that take its mini-batches in turn
    bool operator==(const PlannedStage&) const = default;
};
struct PlannedPipeline {
    std::vector<PlannedStage> stages;
    double seconds = 0;  ///< a mini-batch, at the steady pace: the slowest stage or message
};

/// The pipeline that takes least per mini-batch (Narayanan et al., PipeDream 2019, section 3.1): a
/// stage on m workers takes the longer of its layers' time and of its all-reduce of 4 (m - 1) / m
/// weights, over m; a message goes forth and its gradient back. Workers are handed out in their
/// order, so each stage and message knows the level that it spans. The memory of a stage is its
/// weights and what it keeps, for every mini-batch in flight. Exact, in O(layers^2 workers^2). None
/// if nothing fits in memory.
[[nodiscard]] std::optional<PlannedPipeline>
plan_pipeline(const std::vector<PlannerLayer>& layers, const PlannerOptions& options);

/// What a mini-batch takes on given stages; none if they do not fit in memory.
[[nodiscard]] std::optional<double> seconds_of(
    const std::vector<PlannerLayer>& layers,
    const PlannerOptions& options,
    const std::vector<PlannedStage>& stages);

}  // namespace switchfold
