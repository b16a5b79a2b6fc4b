// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// Mean over seeds and half the width of its 95 % confidence interval (Student's t); no width for a
/// single seed.
struct SeedMean {
    double mean = 0;
    std::optional<double> half_width;
};

/// Training from one seed.
struct LearningSeedResult {
    std::uint64_t seed = 0;
    double final_loss = 0;
    std::optional<std::uint32_t> steps_to_target;
    std::optional<double> seconds_to_target;
    std::optional<std::uint32_t> diverged_at;  ///< step
};

/// Mean over the seeds that have not diverged.
struct LearningPointResult {
    std::uint32_t step = 0;
    double seconds = 0;
    SeedMean loss;
};

/// Root-mean-square distance to a target: of the weights that passes used, and of those before
/// prediction.
struct WeightDistance {
    double used = 0;
    double stale = 0;
};

struct LearningStageResult {
    double forward_missed = 0;   ///< updates by earlier mini-batches, mean
    double backward_missed = 0;  ///< the same for backward passes
    double between = 0;          ///< updates from a forward to its backward, mean
    std::uint32_t copies = 1;    ///< most copies of the weights at a time
    std::uint64_t parameters = 0;
    /// Number of arrays as large as the weights that the optimizer and the method keep besides
    /// them.
    std::uint32_t moments = 0;
    WeightDistance forward_to_batch_order;
    WeightDistance forward_to_round_trip;
    WeightDistance backward_to_batch_order;
    WeightDistance backward_to_round_trip;
};

/// Weights used by a pass; for the first passes of the first seed.
struct VersionRow {
    std::uint32_t stage = 0;
    std::uint32_t micro_batch = 0;
    bool forward = true;
    std::uint32_t version = 0;
    std::uint32_t batch_order = 0;
    std::uint32_t round_trip = 0;
    double ahead = 0;
};

/// A point of one seed.
struct LossRow {
    std::uint64_t seed = 0;
    std::uint32_t step = 0;
    double seconds = 0;
    double loss = 0;
};

/// Comparison with the same seeds of another scenario, which cancels common variation.
struct LearningComparison {
    std::string with;                       ///< scenario
    std::optional<SeedMean> loss_less;      ///< difference of final losses
    std::optional<SeedMean> loss_ratio;     ///< ratio of final losses
    std::optional<SeedMean> steps_ratio;    ///< ratio of steps to the target
    std::optional<SeedMean> seconds_ratio;  ///< ratio of simulated seconds to the target
    std::optional<SeedMean> gap_closed;     ///< share of the gap to scenario gap_of that is closed
};

/// Members after a change.
struct MembershipRow {
    std::uint32_t step = 0;     ///< step after which it happened
    std::uint32_t members = 0;  ///< number after the change
    std::uint32_t joined = 0;
    std::uint32_t left = 0;
    bool identical = false;  ///< weights and moments of all members are bitwise equal
};

/// Effect of a scenario's simulated times on the loss of a small network.
struct LearningResult {
    std::string weights;  ///< weights that passes use, or how replicas average theirs
    double learning_rate = 0;
    std::optional<double> target;
    double step_us = 0;                   ///< simulated time of a step at the steady pace
    bool averages = false;                ///< replicas do, and step_us is the mean of the training
    std::optional<double> members;        ///< mean over the steps; none for a pipeline
    std::optional<double> largest_share;  ///< of a batch; none where all scenarios share equally
    std::optional<SeedMean> final_loss;   ///< none if a seed diverged
    /// None if any seed has not reached the target.
    std::optional<SeedMean> steps_to_target;
    std::optional<SeedMean> seconds_to_target;
    std::uint32_t reached = 0;   ///< number of seeds
    std::uint32_t diverged = 0;  ///< number of seeds
    std::vector<LearningSeedResult> seeds;
    std::vector<LearningPointResult> curve;
    std::vector<LearningStageResult> stages;
    std::optional<LearningComparison> comparison;  ///< none for the reference scenario
    std::vector<MembershipRow> membership;         ///< of the first seed
    std::vector<LossRow> losses;                   ///< for learning.csv
    std::vector<VersionRow> versions;              ///< for versions.csv
    std::vector<std::string> notes;
};

}  // namespace switchfold
