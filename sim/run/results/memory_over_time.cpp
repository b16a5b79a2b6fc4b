// SPDX-License-Identifier: Apache-2.0
#include "sim/run/results/memory_over_time.h"

#include <algorithm>

namespace switchfold {

std::vector<MemoryRow>
memory_over_time(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t rank) {
    const RankGraph& operations = *graph.ranks[rank];
    struct Change {
        std::uint64_t at;
        MemoryClass what;
        std::int64_t bytes;
    };
    std::vector<Change> changes;
    for (const MemoryChange& change : operations.memory) {
        const OperationTimes& times = outcome.times[rank][change.operation];
        const Time at = change.at_end ? times.end : times.start;
        changes.push_back({at.count(), change.what, change.bytes});
    }
    if (changes.empty())
        return {};
    std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
        return a.at < b.at;
    });
    MemoryRow row;
    row.rank = rank;
    row.bytes = operations.held;
    std::vector<MemoryRow> rows;
    if (changes.front().at > 0)
        rows.push_back(row);
    for (std::size_t i = 0; i < changes.size(); ++i) {
        row.bytes[changes[i].what] += static_cast<double>(changes[i].bytes);
        // What is freed at a moment is there for what begins then.
        if (i + 1 < changes.size() && changes[i + 1].at == changes[i].at)
            continue;
        row.time_us = to_microseconds(Time(changes[i].at));
        rows.push_back(row);
    }
    return rows;
}

std::optional<double> peak_memory_gib(const ExecutionGraph& graph, const Outcome& outcome) {
    constexpr double kGiB = 1024.0 * 1024 * 1024;
    std::optional<double> peak;
    for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank)
        for (const MemoryRow& row : memory_over_time(graph, outcome, rank))
            peak = std::max(peak.value_or(0), row.bytes.all() / kGiB);
    return peak;
}

}  // namespace switchfold
