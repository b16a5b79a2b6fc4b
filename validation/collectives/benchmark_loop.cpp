// SPDX-License-Identifier: Apache-2.0
#include "validation/collectives/benchmark_loop.h"

#include "workloads/graph/collective.h"

#include <algorithm>

namespace switchfold::validation {

namespace {

/// nccl-tests' default; it divides the time of all by their number.
constexpr double kIterations = 20;

/// us that the rank with the shortest part in the only collective takes for it.
double shortest_part(const Outcome& outcome) {
    Time shortest = kTimeMax;
    for (const std::vector<OperationTimes>& rank : outcome.times)
        shortest = std::min(shortest, rank.at(0).end - rank.at(0).start);
    return to_microseconds(shortest);
}

}  // namespace

bool runs_along_a_chain(CollectiveKind kind) {
    return kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce;
}

TimedCollective time_planned(
    const PlannedRun& run, const CollectivePolicies& policies, const GraphRunOptions& options) {
    const ExecutionGraph graph = single_collective(run.kind, run.bytes, run.datatype, run.ranks);
    const Outcome outcome = simulate(run.system, graph, policies, options);
    TimedCollective timed;
    timed.result = collective_results(graph, outcome).at(0);
    timed.us = timed.result.time_us;
    if (runs_along_a_chain(run.kind)) {
        const double part = std::min(shortest_part(outcome), timed.us);
        timed.us = part + (timed.us - part) / kIterations;
    }
    return timed;
}

}  // namespace switchfold::validation
