// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/whole_run.h"

#include "workloads/graph/extrapolate.h"
#include "workloads/graph/order_check.h"
#include "workloads/graph/spread.h"
#include "workloads/graph/without_overlap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

std::string missing_ranks(const TraceWorkload& trace, std::uint32_t ranks) {
    constexpr std::size_t kShown = 16;
    std::vector<std::uint32_t> missing;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        if (std::none_of(trace.files.begin(), trace.files.end(), [&](const auto& file) {
                return file.rank == rank;
            }))
            missing.push_back(rank);
    const std::size_t more = missing.size() > kShown ? missing.size() - kShown : 0;
    missing.resize(missing.size() - more);
    return fmt::format(
        "{}{}", fmt::join(missing, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

/// Whether the ranks share their operations and none waits for one of them alone: then none can be
/// elsewhere than the others.
bool all_do_the_same(const ExecutionGraph& graph) {
    const auto& first = graph.ranks.front();
    if (std::any_of(
            graph.ranks.begin(), graph.ranks.end(), [&](const auto& r) { return r != first; }))
        return false;
    const auto operations = first->operations.pass();
    for (const Operation& operation : operations)
        if (std::holds_alternative<SendOperation>(operation.body) ||
            std::holds_alternative<ReceiveOperation>(operation.body))
            return false;
    return true;
}

/// Operations of all ranks together that are followed to their end: some gigabytes and a minute.
constexpr std::uint64_t kMostFollowed = 20'000'000;

/// Sends and receives that match those of ranks that do the same are kept only if all ranks end.
WholeRun spread_one(TraceWorkload& trace, std::uint32_t ranks, const AskedFold& fold) {
    const TraceFileReport& file = trace.files.front();
    const auto& measured = trace.measured.front();
    const auto traced = [&](std::size_t i) {
        return i < measured.size() ? measured[i].end - measured[i].start : Time();
    };
    const ExecutionGraph one = trace.graph;
    Spread spread = spread_over_ranks(
        trace.graph, file.rank, file.world_size, ranks, traced, SpreadMessages::kMatch, fold);
    const std::uint64_t operations = std::uint64_t{one.ranks.front()->operations.size()} * ranks;
    if (spread.matched > 0 && operations <= kMostFollowed) {
        const Impossible impossible = impossible_runs(trace.graph);
        if (!impossible.overlapped.empty() || !impossible.serial.empty()) {
            trace.graph = one;
            spread = spread_over_ranks(
                trace.graph, file.rank, file.world_size, ranks, traced, SpreadMessages::kHold,
                fold);
        }
    }
    return {std::move(spread.notes), std::move(spread.problems), std::move(spread.orbits)};
}

}  // namespace

WholeRun
complete_run(TraceWorkload& trace, std::uint32_t ranks, bool for_all, const AskedFold& fold) {
    const auto traced = static_cast<std::uint32_t>(trace.files.size());
    if (traced == 1 && (for_all || ranks == 1))
        return spread_one(trace, ranks, fold);
    const bool whole = trace.files.back().rank + 1 == traced;
    if (traced < ranks && ranks % traced == 0 && whole &&
        trace.graph.provenance.world_size == traced) {
        Extrapolated more = extrapolate(trace.graph, ranks, fold);
        return {std::move(more.notes), {}, std::move(more.orbits)};
    }
    if (traced == ranks && whole)
        return {};
    return {
        {},
        {fmt::format(
            "give {} of {} ranks, without rank {}; expected {}", traced, ranks,
            missing_ranks(trace, ranks),
            traced == 1
                ? fmt::format("one a rank, or \"ranks\": {} if this one may stand for all", ranks)
                : "one a rank")}};
}

Impossible impossible_runs(const ExecutionGraph& graph) {
    Impossible found;
    if (all_do_the_same(graph))
        return found;
    found.overlapped = why_it_cannot_end(graph);
    try {
        found.serial = why_it_cannot_end(without_overlap(graph));
    } catch (const NoCommonOrder& error) {
        found.serial = {error.note()};
    }
    return found;
}

}  // namespace switchfold
