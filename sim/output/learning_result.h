// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/record.h"

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

    static constexpr auto fields() {
        using R = SeedMean;
        return list_of(
            member("mean", &R::mean, Form::kSixDigits),
            member("half_width", &R::half_width, Form::kSixDigits));
    }
};

/// Training from one seed.
struct LearningSeedResult {
    std::uint64_t seed = 0;
    double final_loss = 0;
    std::optional<std::uint32_t> steps_to_target;
    std::optional<double> seconds_to_target;
    std::optional<std::uint32_t> diverged_at;  ///< step

    static constexpr auto fields() {
        using R = LearningSeedResult;
        return list_of(
            member("seed", &R::seed), member("final_loss", &R::final_loss, Form::kSixDigits),
            member("steps_to_target", &R::steps_to_target),
            member("seconds_to_target", &R::seconds_to_target, Form::kSixDigits),
            member("diverged_at_step", &R::diverged_at));
    }
};

/// Mean over the seeds that have not diverged, and half the width of its interval.
struct LearningPointResult {
    std::uint32_t step = 0;
    double seconds = 0;
    double loss = 0;
    std::optional<double> half_width;

    static constexpr auto fields() {
        using R = LearningPointResult;
        return list_of(
            member("step", &R::step), member("seconds", &R::seconds, Form::kSixDigits),
            member("loss", &R::loss, Form::kSixDigits),
            member("half_width", &R::half_width, Form::kSixDigits));
    }
};

/// Root-mean-square distance to a target: of the weights that passes used, and of those before
/// prediction.
struct WeightDistance {
    double used = 0;
    double stale = 0;

    static constexpr auto fields() {
        using R = WeightDistance;
        return list_of(
            member("used", &R::used, Form::kSixDigits),
            member("stale", &R::stale, Form::kSixDigits));
    }
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

    static constexpr auto fields() {
        using R = LearningStageResult;
        return list_of(
            member("forward_missed", &R::forward_missed, Form::kSixDigits),
            member("backward_missed", &R::backward_missed, Form::kSixDigits),
            member("updates_between", &R::between, Form::kSixDigits),
            member("copies_of_weights", &R::copies), member("parameters", &R::parameters),
            member("moments", &R::moments),
            member("rmse_forward_to_batch_order", &R::forward_to_batch_order),
            member("rmse_forward_to_round_trip", &R::forward_to_round_trip),
            member("rmse_backward_to_batch_order", &R::backward_to_batch_order),
            member("rmse_backward_to_round_trip", &R::backward_to_round_trip));
    }
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

    static constexpr auto fields() {
        using R = LearningComparison;
        return list_of(
            member("with", &R::with), member("loss_less", &R::loss_less),
            member("loss_ratio", &R::loss_ratio), member("steps_ratio", &R::steps_ratio),
            member("seconds_ratio", &R::seconds_ratio), member("gap_closed", &R::gap_closed));
    }
};

/// Members after a change.
struct MembershipRow {
    std::uint32_t step = 0;     ///< step after which it happened
    std::uint32_t members = 0;  ///< number after the change
    std::uint32_t joined = 0;
    std::uint32_t left = 0;
    bool identical = false;  ///< weights and moments of all members are bitwise equal

    static constexpr auto fields() {
        using R = MembershipRow;
        return list_of(
            member("step", &R::step), member("members", &R::members), member("joined", &R::joined),
            member("left", &R::left), member("bit_identical", &R::identical));
    }
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

    static constexpr auto fields() {
        using R = LearningResult;
        return list_of(
            member("weights", &R::weights), member("learning_rate", &R::learning_rate),
            member("target", &R::target), member("step_us", &R::step_us, Form::kSixDigits),
            member("final_loss", &R::final_loss), member("steps_to_target", &R::steps_to_target),
            member("seconds_to_target", &R::seconds_to_target),
            member("seeds_that_reached_the_target", &R::reached),
            member("seeds_that_diverged", &R::diverged), member("comparison", &R::comparison),
            member("membership", &R::membership), member("seeds", &R::seeds),
            member("curve", &R::curve), member("stages", &R::stages));
    }
};

}  // namespace switchfold
