// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"

#include <optional>

namespace switchfold {

/// What one rank's trace leaves open of a run without overlap, per step of the trace.
struct OneRankTimes {
    Time idle;        ///< when nothing ran on the GPU
    Time overlapped;  ///< of work beside other work: what the same order takes longer without that
    Time held;        ///< of messages that match none and stand for waiting for other stages
    bool operator==(const OneRankTimes&) const = default;
};

/// Idle and overlapped time of a trace of one rank. Nothing if it has no times.
[[nodiscard]] std::optional<OneRankTimes> one_rank_times(const TraceWorkload& trace);

/// Time a step for which the first rank's messages hold their blocks (SpreadMessages).
[[nodiscard]] Time held_by_messages(const ExecutionGraph& graph);

}  // namespace switchfold
