// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <functional>
#include <vector>

namespace switchfold {

/// Begin and end of each operation of a rank if only stream order, dependencies and gaps delay it.
struct Schedule {
    struct Interval {
        Time start;
        Time end;
    };
    std::vector<Interval> operations;  ///< by operation index
    Time makespan;                     ///< the latest end
};

/// Duration of an operation, given its index.
using DurationOf = std::function<Time(std::uint32_t index, const Operation& operation)>;

/// Schedules one rank alone, without contention: the result of a simulation with ideal hardware.
/// Throws InternalError if a dependency points forward.
[[nodiscard]] Schedule evaluate(const RankGraph& rank, const DurationOf& duration);

/// Duration in the trace (a host delay's own duration; zero for sends and receives). With it,
/// `evaluate` reproduces the times of the trace.
[[nodiscard]] Time measured_duration(const Operation& operation);

}  // namespace switchfold
