// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/error.h"
#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// One collective on all the ranks that were traced, on one clock.
struct AlignedCollective {
    std::uint32_t group = 0;
    std::uint64_t sequence = 0;
    std::uint32_t ranks = 0;  ///< that were traced
    Bytes bytes;
    Time skew;      ///< from the first rank's start to the last one's
    Time transfer;  ///< from the last rank's start to the last end: without waiting for peers
};

/// What several ranks' traces say together. Their clocks are brought together by what they have in
/// common: a collective that reduces or gathers from all ends on all of them at about the same
/// time, so the median of the differences of these ends is the difference of the clocks.
struct RankAlignment {
    std::vector<double> clock_offset_us;  ///< of each rank's time to the first one's, by index
    std::vector<double> clock_noise_us;   ///< median of what is left of the differences
    std::vector<AlignedCollective> collectives;  ///< by group, then sequence
    std::vector<std::uint32_t> missing_ranks;    ///< of the world
    /// Ranks that disagree on a collective: one has it and another has not, or kind or size differ.
    std::vector<Problem> problems;
};

[[nodiscard]] RankAlignment align_ranks(const TraceWorkload& workload);

}  // namespace switchfold
