// SPDX-License-Identifier: Apache-2.0
#include "sim/results/memory_over_time.h"

#include "core/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>

namespace switchfold {

namespace {

struct HeldChange {
    Time at;
    MemoryClass what = MemoryClass::kWeights;
    std::int64_t bytes = 0;
};

std::vector<HeldChange>
changes_of(const RankGraph& rank, const std::vector<OperationTimes>& times) {
    std::vector<HeldChange> changes;
    for (const MemoryChange& change : rank.memory) {
        const OperationTimes& of = times[change.operation];
        changes.push_back({change.at_end ? of.end : of.start, change.what, change.bytes});
    }
    std::stable_sort(changes.begin(), changes.end(), [](const HeldChange& a, const HeldChange& b) {
        return a.at < b.at;
    });
    return changes;
}

/// By class, in addition to what is held throughout.
using Added = std::array<std::int64_t, kMemoryClasses.size()>;

/// Memory held at the begin may be freed meanwhile, but must be back at the end.
void check_conserved(
    const Added& added, const MemoryBytes& held, std::uint32_t rank, Time at, bool is_end) {
    for (std::size_t i = 0; i < added.size(); ++i) {
        const auto there = static_cast<std::int64_t>(std::ceil(held[kMemoryClasses[i].value]));
        SWITCHFOLD_CHECK(
            there + added[i] >= 0, "rank {} frees {} bytes of {} that it does not hold at {}", rank,
            -added[i] - there, kMemoryClasses[i].name, to_string(at));
        SWITCHFOLD_CHECK(
            !is_end || added[i] == 0,
            "rank {} still holds {} bytes of {} at the end that were to be freed", rank, added[i],
            kMemoryClasses[i].name);
    }
}

std::string
passes_at(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t rank, double time_us) {
    std::string names;
    for (const Span& span : graph.ranks[rank]->spans) {
        const std::vector<OperationTimes>& times = outcome.times[rank];
        if (to_microseconds(times[span.first].start) <= time_us &&
            time_us < to_microseconds(times[span.last].end))
            names.append(names.empty() ? "" : ", ").append(graph.names[span.name]);
    }
    return names;
}

}  // namespace

std::vector<MemoryRow>
memory_over_time(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t rank) {
    const RankGraph& operations = *graph.ranks[rank];
    const std::vector<HeldChange> changes = changes_of(operations, outcome.times[rank]);
    if (changes.empty())
        return {};
    MemoryRow row;
    row.rank = rank;
    row.bytes = operations.held;
    std::vector<MemoryRow> rows;
    if (changes.front().at > Time())
        rows.push_back(row);
    Added added{};
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const HeldChange& change = changes[i];
        std::int64_t& of_class = added[static_cast<std::size_t>(change.what)];
        of_class += change.bytes;
        row.bytes[change.what] = operations.held[change.what] + static_cast<double>(of_class);
        // Memory freed at a time is available to what begins at that time.
        const bool is_last = i + 1 == changes.size();
        if (!is_last && changes[i + 1].at == change.at)
            continue;
        check_conserved(added, operations.held, rank, change.at, is_last);
        if (!rows.empty() && rows.back().bytes == row.bytes)
            continue;
        row.time_us = to_microseconds(change.at);
        rows.push_back(row);
    }
    return rows;
}

std::optional<PeakMemoryResult> peak_memory(const ExecutionGraph& graph, const Outcome& outcome) {
    std::optional<PeakMemoryResult> peak;
    for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank)
        for (const MemoryRow& row : memory_over_time(graph, outcome, rank))
            if (!peak || row.bytes.all() > peak->bytes.all())
                peak = {row.rank, row.time_us, "", row.bytes};
    if (peak)
        peak->pass = passes_at(graph, outcome, peak->rank, peak->time_us);
    return peak;
}

}  // namespace switchfold
