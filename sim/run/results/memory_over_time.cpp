// SPDX-License-Identifier: Apache-2.0
#include "sim/run/results/memory_over_time.h"

#include <algorithm>

namespace switchfold {

std::vector<MemoryRow>
memory_over_time(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t rank) {
    const RankGraph& operations = *graph.ranks[rank];
    struct Change {
        std::uint64_t at;
        std::int64_t bytes;
    };
    std::vector<Change> changes;
    for (const Span& span : operations.spans)
        if (span.keeps != 0)
            changes.push_back(
                {span.keeps > 0 ? outcome.times[rank][span.first].start.count()
                                : outcome.times[rank][span.last].end.count(),
                 span.keeps});
    if (changes.empty())
        return {};
    // What is freed at a moment is there for what begins then.
    std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
        return a.at != b.at ? a.at < b.at : a.bytes < b.bytes;
    });
    MemoryRow row;
    row.rank = rank;
    row.weights = operations.held.weights;
    row.gradients = operations.held.gradients;
    row.moments = operations.held.moments;
    std::vector<MemoryRow> rows;
    if (changes.front().at > 0)
        rows.push_back(row);
    std::int64_t kept = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        kept += changes[i].bytes;
        if (i + 1 < changes.size() && changes[i + 1].at == changes[i].at)
            continue;
        row.time_us = to_microseconds(Time(changes[i].at));
        row.activations = static_cast<double>(kept);
        rows.push_back(row);
    }
    return rows;
}

std::optional<double> peak_memory_gib(const ExecutionGraph& graph, const Outcome& outcome) {
    constexpr double kGiB = 1024.0 * 1024 * 1024;
    std::optional<double> peak;
    for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank)
        for (const MemoryRow& row : memory_over_time(graph, outcome, rank))
            peak = std::max(peak.value_or(0), row.all() / kGiB);
    return peak;
}

}  // namespace switchfold
