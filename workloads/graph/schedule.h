// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <functional>
#include <vector>

namespace switchfold {

/// When each operation of a rank runs if nothing but stream order, dependencies and gaps holds it
/// up.
struct Schedule {
    struct Interval {
        Time start;
        Time end;
    };
    std::vector<Interval> operations;  ///< by index
    Time makespan;                     ///< the latest end
};

/// Duration of one operation, given its index.
using DurationOf = std::function<Time(std::uint32_t index, const Operation& operation)>;

/// Evaluates a rank on its own, without contention: what a simulation with ideal hardware would
/// give. Throws InternalError if a dependency points forward.
[[nodiscard]] Schedule evaluate(const RankGraph& rank, const DurationOf& duration);

/// The duration in the trace (a host delay's own; zero for sends and receives): with it, `evaluate`
/// gives the trace's own times back.
[[nodiscard]] Time measured_duration(const Operation& operation);

}  // namespace switchfold
