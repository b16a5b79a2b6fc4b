// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// One collective over all traced ranks, on a common clock.
struct AlignedCollective {
    std::uint32_t group = 0;
    std::uint64_t sequence = 0;
    std::uint32_t ranks = 0;  ///< traced ones
    Bytes bytes;
    Time skew;      ///< from the first rank's start to the last rank's
    Time transfer;  ///< from the last rank's start to the last end: excludes waiting for peers
};

/// Combines the traces of several ranks. Their clocks are aligned by common collectives: one that
/// reduces or gathers from all ends on all ranks at about the same time, so the median difference
/// of these ends is the clock offset.
struct RankAlignment {
    std::vector<double> clock_offset_us;  ///< of each rank's clock from the first rank's, by index
    std::vector<double> clock_noise_us;   ///< median of the remaining differences
    std::vector<AlignedCollective> collectives;  ///< by group, then sequence
    std::vector<std::uint32_t> missing_ranks;    ///< not traced, of the world
    /// Disagreements between ranks: a collective that only some ranks have, or of different kind or
    /// size.
    std::vector<Problem> problems;
};

[[nodiscard]] RankAlignment align_ranks(const TraceWorkload& workload);

}  // namespace switchfold
