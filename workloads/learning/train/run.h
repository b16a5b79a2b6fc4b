// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold::learning {

struct LossPoint {
    std::uint32_t step = 0;  ///< so many steps of `batch` samples went into the weights
    double seconds = 0;      ///< simulated, when the last stage had them
    double loss = 0;         ///< of the samples held out
};

/// Which weights a pass saw.
struct VersionUse {
    std::uint32_t micro_batch = 0;
    std::uint32_t stage = 0;
    bool forward = true;
    std::uint32_t version = 0;        ///< updates in the weights that it read
    std::uint32_t batch_order = 0;    ///< updates that sequential training would have made
    std::uint32_t at_round_trip = 0;  ///< made when the backward begins on the first stage
    double ahead = 0;                 ///< updates that were predicted on top
};

/// Squared distances to a target, summed over passes and parameters.
struct Distance {
    double used = 0;   ///< of the weights that passes saw
    double stale = 0;  ///< of those that they began with, before any prediction
    double numbers = 0;
    [[nodiscard]] double root_of_used() const;
    [[nodiscard]] double root_of_stale() const;
};

/// Of a stage, past the first passes that fill the pipeline.
struct StageRun {
    Distance forward_to_batch_order;
    Distance forward_to_round_trip;
    Distance backward_to_batch_order;
    Distance backward_to_round_trip;
    double forward_missed = 0;      ///< updates, mean
    double backward_missed = 0;     ///< updates, mean
    double between = 0;             ///< updates between a forward and its backward, mean
    std::uint32_t most_copies = 1;  ///< of the stage's weights, kept at a time
    std::uint64_t parameters = 0;
    /// Arrays as large as the weights that the optimizer and the method keep beside them.
    std::uint32_t moments = 0;
};

/// Weights that are no numbers any more, or a loss beyond all bounds.
struct Divergence {
    std::uint32_t step = 0;
    double loss = 0;
};

/// What a change of members left behind it.
struct MembershipChange {
    std::uint32_t step = 0;     ///< after whose update
    std::uint32_t members = 0;  ///< then
    std::uint32_t joined = 0;
    std::uint32_t left = 0;
    bool identical = false;  ///< weights and moments of all, bit for bit
};

/// One training, from one seed.
struct TrainingRun {
    std::vector<LossPoint> losses;
    std::optional<Divergence> diverged;
    std::vector<StageRun> stages;
    std::vector<VersionUse> versions;  ///< of every pass, or of the first ones
    std::uint64_t passes = 0;          ///< whose versions were to be noted
    std::vector<MembershipChange> membership;
    std::uint64_t digest = 0;  ///< of the last weights' bits
};

/// The first point at or below the target; none if there is none.
[[nodiscard]] std::optional<LossPoint> reached(const TrainingRun& run, double target);

}  // namespace switchfold::learning
