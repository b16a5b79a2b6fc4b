// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// Mean over seeds and half the width of its 95 % interval (Student's t); no width of one seed.
struct SeedMean {
    double mean = 0;
    std::optional<double> half_width;
};

/// A training from one seed.
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

/// Root-mean-square distance of weights to a target: of those that passes saw, and of those that
/// they began with.
struct WeightDistance {
    double used = 0;
    double stale = 0;
};

struct LearningStageResult {
    double forward_missed = 0;   ///< updates by earlier mini-batches, mean
    double backward_missed = 0;  ///< likewise
    double between = 0;          ///< updates from a forward to its backward, mean
    std::uint32_t copies = 1;    ///< of the weights, most at a time
    std::uint64_t parameters = 0;
    /// Arrays as large as the weights that the optimizer and the method keep beside them.
    std::uint32_t moments = 0;
    WeightDistance forward_to_batch_order;
    WeightDistance forward_to_round_trip;
    WeightDistance backward_to_batch_order;
    WeightDistance backward_to_round_trip;
};

/// Weights that a pass saw, of the first passes of the first seed.
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

/// Against the same seeds of another scenario: what seeds have in common cancels.
struct LearningComparison {
    std::string with;                       ///< scenario
    std::optional<SeedMean> loss_less;      ///< final loss less that one's
    std::optional<SeedMean> loss_ratio;     ///< final loss over that one's
    std::optional<SeedMean> steps_ratio;    ///< steps to the target over that one's
    std::optional<SeedMean> seconds_ratio;  ///< simulated seconds likewise
    std::optional<SeedMean> gap_closed;     ///< share of the gap to the scenario gap_of
};

/// Who trained after a change of members.
struct MembershipRow {
    std::uint32_t step = 0;     ///< after whose update
    std::uint32_t members = 0;  ///< then
    std::uint32_t joined = 0;
    std::uint32_t left = 0;
    bool identical = false;  ///< weights and moments of all, bit for bit
};

/// What a scenario's simulated times do to the loss of a small network.
struct LearningResult {
    std::string weights;  ///< which ones passes see, or how replicas average theirs
    double learning_rate = 0;
    std::optional<double> target;
    double step_us = 0;                  ///< simulated time of a step at the steady pace
    std::optional<SeedMean> final_loss;  ///< none if a seed diverged
    /// None if a seed has not reached the target.
    std::optional<SeedMean> steps_to_target;
    std::optional<SeedMean> seconds_to_target;
    std::uint32_t reached = 0;   ///< seeds
    std::uint32_t diverged = 0;  ///< seeds
    std::vector<LearningSeedResult> seeds;
    std::vector<LearningPointResult> curve;
    std::vector<LearningStageResult> stages;
    std::optional<LearningComparison> comparison;  ///< none of the one compared with
    std::vector<MembershipRow> membership;         ///< of the first seed
    std::vector<LossRow> losses;                   ///< for learning.csv
    std::vector<VersionRow> versions;              ///< for versions.csv
    std::vector<std::string> notes;
};

}  // namespace switchfold
