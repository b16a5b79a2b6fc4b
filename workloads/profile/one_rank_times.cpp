// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/one_rank_times.h"

#include "workloads/profile/intervals.h"

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

namespace switchfold {

std::optional<OneRankTimes> one_rank_times(const TraceWorkload& trace) {
    const BigVector<TraceWorkload::Measured>& measured = trace.measured.front();
    std::vector<Interval> runs;
    std::uint64_t all = 0;
    std::uint64_t start = UINT64_MAX;
    std::uint64_t end = 0;
    std::size_t i = 0;
    for (const Operation& operation : trace.graph.ranks.front()->operations.pass()) {
        const std::size_t at = i++;
        if (at >= measured.size() || std::holds_alternative<HostDelayOperation>(operation.body))
            continue;
        const Interval run{measured[at].start.count(), measured[at].end.count()};
        if (run.end <= run.start)
            continue;
        runs.push_back(run);
        all += run.end - run.start;
        start = std::min(start, run.start);
        end = std::max(end, run.end);
    }
    if (runs.empty())
        return std::nullopt;
    const std::uint64_t busy = merge_intervals(runs);
    const std::uint64_t steps = std::max<std::uint32_t>(1, trace.graph.steps);
    return OneRankTimes{Time((end - start - busy) / steps), Time((all - busy) / steps), Time()};
}

Time held_by_messages(const ExecutionGraph& graph) {
    std::uint64_t held = 0;
    for (const Operation& operation : graph.ranks.front()->operations.pass())
        if (const auto* c = std::get_if<CollectiveOperation>(&operation.body);
            c != nullptr && c->kind == CollectiveKind::kSendReceive && c->holds_blocks)
            held += c->given.count();
    return Time(held / std::max<std::uint32_t>(1, graph.steps));
}

}  // namespace switchfold
