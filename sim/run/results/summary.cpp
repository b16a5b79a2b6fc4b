// SPDX-License-Identifier: Apache-2.0
#include "sim/run/results/summary.h"

#include "models/collectives/engine.h"
#include "sim/run/results/training.h"
#include "workloads/graph/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace switchfold {

namespace {

/// Stretches in which collectives of the group's ranks wait for their last one, by group and
/// sequence.
std::map<std::pair<std::uint32_t, std::uint64_t>, Stretch> waits_for_last(const Outcome& outcome) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, Stretch> waits;
    for (const CollectiveRecord& record : outcome.collectives)
        if (record.kind != CollectiveKind::kSendReceive)
            waits[{record.group, record.sequence}] = {record.stalled.count(), record.ready.count()};
    return waits;
}

/// Thread blocks of each collective on every GPU.
std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> blocks_of(const Outcome& outcome) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> blocks;
    for (const CollectiveRecord& record : outcome.collectives)
        if (record.sender == record.receiver)
            blocks[{record.group, record.sequence}] = record.choice.channels;
    return blocks;
}

/// How long a collective moved data: from its last rank's coming, and of an exchange also before
/// that, as long as there was something to exchange.
Time moving_time(const CollectiveRecord& record) {
    if (record.stalled == Time())
        return record.end - record.ready;
    const Time still = record.ready - std::min(record.ready, record.stalled);
    return record.end - record.start - still;
}

}  // namespace

std::uint64_t merge(std::vector<Stretch>& stretches) {
    std::sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
        return a.start < b.start;
    });
    std::vector<Stretch> merged;
    std::uint64_t total = 0;
    for (const Stretch& s : stretches) {
        if (s.end <= s.start)
            continue;
        if (!merged.empty() && s.start <= merged.back().end)
            merged.back().end = std::max(merged.back().end, s.end);
        else
            merged.push_back(s);
    }
    for (const Stretch& s : merged)
        total += s.end - s.start;
    stretches = std::move(merged);
    return total;
}

std::uint64_t
covered_by(const std::vector<Stretch>& merged, std::uint64_t start, std::uint64_t end) {
    auto at = std::upper_bound(
        merged.begin(), merged.end(), start, [](std::uint64_t t, const Stretch& s) {
            return t < s.start;
        });
    if (at != merged.begin())
        --at;
    std::uint64_t sum = 0;
    for (; at != merged.end() && at->start < end; ++at) {
        const std::uint64_t from = std::max(start, at->start);
        const std::uint64_t to = std::min(end, at->end);
        if (to > from)
            sum += to - from;
    }
    return sum;
}

std::vector<Stretch>
collective_stretches(const RankGraph& rank, const std::vector<OperationTimes>& times) {
    std::vector<Stretch> stretches;
    for (std::size_t i = 0; i < rank.operations.size(); ++i)
        if (std::holds_alternative<CollectiveOperation>(rank.operations[i].body))
            stretches.push_back({times[i].start.count(), times[i].end.count()});
    merge(stretches);
    return stretches;
}

PhaseTimes phase_times(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t steps) {
    PhaseTimes sum;
    const auto last_comes = waits_for_last(outcome);
    const auto blocks = blocks_of(outcome);
    for (std::size_t r = 0; r < graph.ranks.size(); ++r) {
        const RankGraph& rank = *graph.ranks[r];
        std::vector<Stretch> phases[4];
        std::vector<Stretch> busy;
        std::vector<Stretch> waiting;
        for (std::size_t i = 0; i < rank.operations.size(); ++i) {
            const Operation& operation = rank.operations[i];
            if (operation.step >= steps)
                continue;
            const Stretch stretch{
                outcome.times[r][i].start.count(), outcome.times[r][i].end.count()};
            const bool kernel = std::holds_alternative<KernelOperation>(operation.body);
            if (kernel)
                phases[static_cast<std::size_t>(operation.phase)].push_back(stretch);
            if (kernel || std::holds_alternative<CopyOperation>(operation.body))
                busy.push_back(stretch);
            const auto* c = std::get_if<CollectiveOperation>(&operation.body);
            if (c != nullptr)
                if (const auto held = blocks.find({c->group, c->sequence}); held != blocks.end())
                    sum.blocks += static_cast<double>(stretch.end - stretch.start) * held->second;
            if (c != nullptr)
                if (const auto wait = last_comes.find({c->group, c->sequence});
                    wait != last_comes.end())
                    waiting.push_back(
                        {std::max(stretch.start, wait->second.start),
                         std::min(stretch.end, wait->second.end)});
        }
        merge(busy);
        sum.waiting += static_cast<double>(merge(waiting));
        std::uint64_t exposed_waiting = 0;
        for (const Stretch& s : waiting)
            exposed_waiting += s.end - s.start - covered_by(busy, s.start, s.end);
        sum.exposed_waiting += static_cast<double>(exposed_waiting);
        std::uint64_t exposed = 0;
        for (const Stretch& s : collective_stretches(rank, outcome.times[r]))
            exposed += s.end - s.start - covered_by(busy, s.start, s.end);
        sum.forward +=
            static_cast<double>(merge(phases[static_cast<std::size_t>(Phase::kForward)]));
        sum.backward +=
            static_cast<double>(merge(phases[static_cast<std::size_t>(Phase::kBackward)]));
        sum.optimizer +=
            static_cast<double>(merge(phases[static_cast<std::size_t>(Phase::kOptimizer)]));
        sum.exposed += static_cast<double>(exposed);
    }
    const double share = 1e-6 / static_cast<double>(graph.ranks.size()) /
                         std::min(steps, graph.steps) / graph.training.rounds;
    sum.forward *= share;
    sum.backward *= share;
    sum.optimizer *= share;
    sum.exposed *= share;
    sum.waiting *= share;
    sum.exposed_waiting *= share;
    sum.iteration = round_us(graph, outcome);
    if (outcome.end_ps > 0)
        sum.blocks *= share * graph.steps * graph.training.rounds /
                      (static_cast<double>(outcome.end_ps) * 1e-6);
    return sum;
}

namespace {

/// Who moves the data, in the column of protocols.
std::string_view mover_of(const Choice& choice) {
    switch (choice.kernels) {
    case Kernels::kCopyEngine:
        return "copy_engine";
    case Kernels::kSymmetric:
        return choice.protocol == Protocol::kLl ? "symmetric_ll" : "symmetric";
    case Kernels::kClassic:
        break;
    }
    return choice.algorithm == Algorithm::kInSwitch ? enum_name(choice.mode)
                                                    : enum_name(choice.protocol);
}

}  // namespace

std::vector<CollectiveResult>
collective_results(const ExecutionGraph& graph, const Outcome& outcome) {
    std::vector<CollectiveResult> results;
    for (const CollectiveRecord& record : outcome.collectives) {
        CollectiveResult result;
        const bool pair = record.sender != record.receiver;
        result.name =
            pair ? fmt::format("rank {} to {} {}", record.sender, record.receiver, record.sequence)
                 : fmt::format(
                       "{} {} {}",
                       graph.groups[record.group].name,
                       to_string(record.kind),
                       record.sequence);
        result.algorithm =
            pair || record.choice.for_a_peer != 0 ? "direct" : enum_name(record.choice.algorithm);
        result.protocol = mover_of(record.choice);
        if (record.choice.library != ExpertsLibrary::kAuto) {
            result.algorithm = enum_name(record.choice.library);
            result.protocol.clear();
        }
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
