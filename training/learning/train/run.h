// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/record.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold::learning {

struct LossPoint {
    std::uint32_t step = 0;  ///< number of steps of `batch` samples in the weights
    double seconds = 0;      ///< simulated time when the last stage had them
    double loss = 0;         ///< of the held-out samples
};

/// Weights that a pass used.
struct VersionUse {
    std::uint32_t micro_batch = 0;
    std::uint32_t stage = 0;
    bool forward = true;
    std::uint32_t version = 0;        ///< updates contained in the weights that it read
    std::uint32_t batch_order = 0;    ///< updates that sequential training would have made
    std::uint32_t at_round_trip = 0;  ///< updates made when the backward begins on the first stage
    double ahead = 0;                 ///< updates predicted on top
};

/// Squared distances to a target, summed over passes and parameters.
struct Distance {
    double used = 0;   ///< from the weights that passes used
    double stale = 0;  ///< from the weights before any prediction
    double numbers = 0;
    [[nodiscard]] double root_of_used() const;
    [[nodiscard]] double root_of_stale() const;
};

/// Results of a stage, excluding the first passes, which fill the pipeline.
struct StageRun {
    Distance forward_to_batch_order;
    Distance forward_to_round_trip;
    Distance backward_to_batch_order;
    Distance backward_to_round_trip;
    double forward_missed = 0;      ///< updates, mean
    double backward_missed = 0;     ///< updates, mean
    double between = 0;             ///< updates between a forward and its backward, mean
    std::uint32_t most_copies = 1;  ///< most copies of the stage's weights kept at a time
    std::uint64_t parameters = 0;
    /// Number of arrays as large as the weights that the optimizer and the method keep besides
    /// them.
    std::uint32_t moments = 0;
};

/// Non-finite weights, or a loss beyond the limit.
struct Divergence {
    std::uint32_t step = 0;
    double loss = 0;
};

/// State after a change of members.
struct MembershipChange {
    std::uint32_t step = 0;     ///< step after which it happened
    std::uint32_t members = 0;  ///< after the change
    std::uint32_t joined = 0;
    std::uint32_t left = 0;
    bool identical = false;  ///< whether weights and moments of all are bitwise equal
};

/// One training run from one seed.
struct TrainingRun {
    std::vector<LossPoint> losses;
    std::optional<Divergence> diverged;
    std::vector<StageRun> stages;
    std::vector<VersionUse> versions;  ///< of every pass, or of the first ones
    std::uint64_t passes = 0;          ///< passes whose versions were requested
    std::vector<MembershipChange> membership;
    std::uint64_t digest = 0;  ///< hash of the final weights' bits

    static constexpr auto fields() {
        using T = TrainingRun;
        return list_of(
            member("losses", &T::losses), member("diverged", &T::diverged),
            member("stages", &T::stages), member("versions", &T::versions),
            member("passes", &T::passes), member("membership", &T::membership),
            member("digest", &T::digest));
    }
};

/// The first point at or below the target loss; nothing if none is.
[[nodiscard]] std::optional<LossPoint> reached(const TrainingRun& run, double target);

}  // namespace switchfold::learning
