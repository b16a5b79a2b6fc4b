// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "models/collectives/shortcuts/carried_offsets.h"
#include "models/collectives/shortcuts/pace_beside_kernels.h"
#include "models/collectives/shortcuts/recorded_collective.h"

#include <cstddef>
#include <vector>

namespace switchfold {

/// What is known of collectives like each other. Pure logic, without a clock.
class CollectiveExample {
public:
    /// `most_runs`: so many are kept, at least one.
    explicit CollectiveExample(std::size_t most_runs) : most_runs_(most_runs) {}
    /// Adds a run, and what it says of the pace beside kernels.
    void learn(RecordedCollective run, const PaceBesideKernels& its_pace);
    /// Adds what a run that is none of these says of the pace.
    void hear(const PaceBesideKernels& pace) { pace_.add(pace); }
    /// Forgets the runs, not the paces.
    void forget() { runs_.clear(); }
    /// The next one is to be recorded, since the pace of one had to be guessed for long.
    void ask() { asks_ = true; }

    /// How long a member may wait for the others without a difference; 0: nothing is known.
    [[nodiscard]] Time patience() const;
    /// The run like which one passes whose members join like that, beside kernels that leave so
    /// much of the memory's bandwidth to packets; null: none.
    [[nodiscard]] const RecordedCollective*
    suiting(const RecordedCollective::Joining& joining, double left) const;
    /// That run, for the times at which these members join.
    [[nodiscard]] RecordedCollective
    as_joined(const RecordedCollective& run, const RecordedCollective::Joining& joining) const;
    /// Whether a run's pace beside kernels that leave so much is known.
    [[nodiscard]] bool knows(double left, const RecordedCollective& run) const;
    /// That, or a guess.
    [[nodiscard]] double pace_at(double left, const RecordedCollective& run) const;
    /// Work of what a run's members are told, at these paces.
    void count_work(RecordedCollective& run) const;

private:
    /// Whether its members may come apart and end as far apart. Without kernels beside it, what
    /// they wait for each other is seen, and is simulated.
    [[nodiscard]] bool carries(const RecordedCollective& run) const;

    std::size_t most_runs_;
    std::vector<RecordedCollective> runs_;  ///< whose members joined at different distances
    PaceBesideKernels pace_;                ///< of all that were recorded
    CarriedOffsets offsets_;
    bool asks_ = false;
};

}  // namespace switchfold
