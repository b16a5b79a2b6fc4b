// SPDX-License-Identifier: Apache-2.0
#include "sim/results/summary.h"

#include "models/collectives/engine.h"
#include "models/collectives/library.h"
#include "sim/results/collective_records.h"
#include "sim/results/training.h"
#include "workloads/graph/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

bool communicates(const OperationBody& body) {
    return std::holds_alternative<CollectiveOperation>(body) ||
           std::holds_alternative<SendOperation>(body) ||
           std::holds_alternative<ReceiveOperation>(body);
}

/// How long a collective moved data: from its last rank's arrival; for an all-to-all also earlier,
/// as long as there was data to exchange.
Time moving_time(const CollectiveRecord& record) {
    if (record.stalled == Time())
        return record.end - record.ready;
    const Time still = record.ready - std::min(record.ready, record.stalled);
    return record.end - record.start - still;
}

bool is_host_copy(const Operation& operation) {
    const auto* copy = std::get_if<CopyOperation>(&operation.body);
    return copy != nullptr &&
           (copy->kind == CopyKind::kHostToDevice || copy->kind == CopyKind::kDeviceToHost);
}

}  // namespace

std::vector<Interval>
communication_stretches(const RankGraph& rank, const std::vector<OperationTimes>& times) {
    std::vector<Interval> stretches;
    for (std::size_t i = 0; i < rank.operations.size(); ++i)
        if (communicates(rank.operations[i].body))
            stretches.push_back({times[i].start.count(), times[i].end.count()});
    merge_intervals(stretches);
    return stretches;
}

PhaseTimes phase_times(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t steps) {
    PhaseTimes sum;
    CollectiveRecords records(outcome);
    const RankWeights weights(graph);
    for (std::size_t r = 0; r < graph.ranks.size(); ++r) {
        const RankGraph& rank = *graph.ranks[r];
        const auto weighted = [weight = weights.of(r)](std::uint64_t ps) {
            return weight * static_cast<double>(ps);
        };
        std::vector<Interval> phases[4];
        std::vector<Interval> busy;
        std::vector<Interval> waiting;
        std::vector<Interval> kernels;
        std::vector<Interval> copies;
        for (std::size_t i = 0; i < rank.operations.size(); ++i) {
            const Operation& operation = rank.operations[i];
            const CollectiveRecord* record =
                records.of(static_cast<std::uint32_t>(r), operation.body);
            if (operation.step >= steps)
                continue;
            const Interval stretch{
                outcome.times[r][i].start.count(), outcome.times[r][i].end.count()};
            const bool kernel = std::holds_alternative<KernelOperation>(operation.body);
            if (kernel) {
                kernels.push_back(stretch);
                phases[static_cast<std::size_t>(operation.phase)].push_back(stretch);
            }
            if (is_host_copy(operation))
                copies.push_back(stretch);
            if (kernel || std::holds_alternative<CopyOperation>(operation.body))
                busy.push_back(stretch);
            if (record == nullptr)
                continue;
            sum.blocks += weighted(stretch.end - stretch.start) * record->choice.channels;
            waiting.push_back(waiting_of(*record, stretch));
        }
        merge_intervals(kernels);
        if (!copies.empty()) {
            merge_intervals(copies);
            std::uint64_t bare = 0;
            for (const Interval& s : copies)
                bare += s.end - s.start - covered(kernels, s.start, s.end);
            sum.exposed_copies = sum.exposed_copies.value_or(0) + weighted(bare);
        }
        merge_intervals(busy);
        sum.waiting += weighted(merge_intervals(waiting));
        std::uint64_t exposed_waiting = 0;
        for (const Interval& s : waiting)
            exposed_waiting += s.end - s.start - covered(busy, s.start, s.end);
        sum.exposed_waiting += weighted(exposed_waiting);
        std::uint64_t exposed = 0;
        for (const Interval& s : communication_stretches(rank, outcome.times[r])) {
            exposed += s.end - s.start - covered(busy, s.start, s.end);
            sum.collectives += weighted(s.end - s.start);
        }
        sum.forward += weighted(merge_intervals(phases[static_cast<std::size_t>(Phase::kForward)]));
        sum.backward +=
            weighted(merge_intervals(phases[static_cast<std::size_t>(Phase::kBackward)]));
        sum.optimizer +=
            weighted(merge_intervals(phases[static_cast<std::size_t>(Phase::kOptimizer)]));
        sum.other += weighted(merge_intervals(phases[static_cast<std::size_t>(Phase::kOther)]));
        sum.exposed += weighted(exposed);
    }
    const double share =
        1e-6 / weights.total() / std::min(steps, graph.steps) / graph.training.rounds;
    sum.forward *= share;
    sum.backward *= share;
    sum.optimizer *= share;
    sum.other *= share;
    sum.collectives *= share;
    sum.exposed *= share;
    sum.waiting *= share;
    sum.exposed_waiting *= share;
    if (sum.exposed_copies)
        *sum.exposed_copies *= share;
    sum.iteration = round_us(graph, outcome);
    if (outcome.end_ps > 0)
        sum.blocks *= share * graph.steps * graph.training.rounds /
                      (static_cast<double>(outcome.end_ps) * 1e-6);
    return sum;
}

std::string name_of(const ExecutionGraph& graph, const CollectiveRecord& record) {
    if (record.sender != record.receiver)
        return fmt::format("rank {} to {} {}", record.sender, record.receiver, record.sequence);
    return fmt::format(
        "{} {} {}", graph.groups[record.group].name, to_string(record.kind), record.sequence);
}

std::vector<CollectiveResult>
collective_results(const ExecutionGraph& graph, const Outcome& outcome) {
    std::vector<CollectiveResult> results;
    for (const CollectiveRecord& record : outcome.collectives) {
        CollectiveResult result;
        result.name = name_of(graph, record);
        result.algorithm = algorithm_of(record);
        if (!record.as_traced)
            result.protocol = library_of(record.choice).words(record.choice).mover;
        result.fallback = enum_name(record.fallback);
        result.channels = record.choice.channels;
        result.ranks = record.ranks;
        result.size_bytes = record.bytes.count();
        result.start_us = to_microseconds(record.start);
        result.ready_us = to_microseconds(record.ready);
        result.time_us = to_microseconds(moving_time(record));
        if (result.time_us > 0) {
            result.algorithm_bandwidth_GBps =
                static_cast<double>(result.size_bytes) / result.time_us * 1e-3;
            result.bus_bandwidth_GBps =
                result.algorithm_bandwidth_GBps * bus_factor(record.kind, record.ranks);
        }
        results.push_back(std::move(result));
    }
    std::sort(results.begin(), results.end(), [](const auto& a, const auto& b) {
        return a.start_us != b.start_us ? a.start_us < b.start_us : a.name < b.name;
    });
    return results;
}

}  // namespace switchfold
