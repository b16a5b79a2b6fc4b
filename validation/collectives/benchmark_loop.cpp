// SPDX-License-Identifier: Apache-2.0
#include "validation/collectives/benchmark_loop.h"

#include "workloads/graph/collective.h"

#include <algorithm>

namespace switchfold::validation {

namespace {

/// nccl-tests' default; it warms up before, and divides the time of all by their number.
constexpr double kIterations = 20;
/// Iterations that are simulated: a chain is full after the first few, and then each takes equally
/// long.
constexpr std::uint32_t kFilling = 4;
constexpr std::uint32_t kSteady = 4;

/// us at which the last rank ends its part in the loop's collective `index`.
double end_of(const Outcome& outcome, std::size_t index) {
    std::uint64_t latest = 0;
    for (const std::vector<OperationTimes>& rank : outcome.times)
        latest = std::max(latest, rank.at(index).end.count());
    return static_cast<double>(latest) * 1e-6;
}

}  // namespace

bool overlaps_in_loop(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
    case CollectiveKind::kSendReceive:
        return true;
    default:
        return false;
    }
}

TimedCollective
time_planned(const PlannedRun& run, const CollectivePolicies& policies, GraphRunOptions options) {
    if (!overlaps_in_loop(run.kind)) {
        const GraphRun done = run_graph(
            run.system,
            single_collective(run.kind, run.bytes, run.datatype, run.ranks),
            policies,
            options);
        return {done.collectives.at(0).time_us, done.collectives.at(0)};
    }
    const ExecutionGraph graph =
        looped_collective(run.kind, run.bytes, run.datatype, run.ranks, kFilling + kSteady);
    const Outcome outcome = simulate(run.system, graph, policies, options);
    const double first = end_of(outcome, 0);
    const double steady =
        (end_of(outcome, kFilling + kSteady - 1) - end_of(outcome, kFilling - 1)) / kSteady;
    return {
        steady + std::max(0.0, first - steady) / kIterations,
        collective_results(graph, outcome).at(0)};
}

}  // namespace switchfold::validation
