// SPDX-License-Identifier: Apache-2.0
#include "sim/run/results/summary.h"

#include "models/collectives/engine.h"
#include "sim/run/results/training.h"
#include "workloads/graph/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace switchfold {

namespace {

/// Finds the record of an operation that communicates.
class Records {
public:
    explicit Records(const Outcome& outcome) {
        for (const CollectiveRecord& record : outcome.collectives)
            if (record.sender == record.receiver)
                of_groups_[{record.group, record.sequence}] = &record;
            else
                transfers_[{record.sender, record.receiver, record.tag, record.sequence}] = &record;
    }
    /// Null if it does not communicate, or has no record. Each rank asks for all its operations, in
    /// order: transfers of one tag are counted.
    const CollectiveRecord* of(std::uint32_t rank, const OperationBody& body) {
        if (const auto* c = std::get_if<CollectiveOperation>(&body))
            return found(of_groups_, {c->group, c->sequence});
        if (const auto* send = std::get_if<SendOperation>(&body))
            return transfer({rank, send->peer, send->tag, 0});
        if (const auto* receive = std::get_if<ReceiveOperation>(&body))
            return transfer({receive->peer, rank, receive->tag, 1});
        return nullptr;
    }

private:
    using Channel = std::array<std::uint64_t, 4>;

    template <class Map>
    static const CollectiveRecord* found(const Map& map, const typename Map::key_type& key) {
        const auto at = map.find(key);
        return at == map.end() ? nullptr : at->second;
    }
    /// The next of those from a rank to another of a tag, at one end.
    const CollectiveRecord* transfer(const Channel& end) {
        return found(transfers_, {end[0], end[1], end[2], counts_[end]++});
    }

    std::map<std::pair<std::uint32_t, std::uint64_t>, const CollectiveRecord*> of_groups_;
    std::map<Channel, const CollectiveRecord*> transfers_;  ///< sender, receiver, tag, sequence
    std::map<Channel, std::uint64_t> counts_;
};

/// Time in which an operation of a collective or transfer waits for another rank. A late rank
/// delays a single peer of a group's send and receive; a sender that fills the receiver's buffers
/// and ends does not wait.
Interval waiting_of(const CollectiveRecord& record, const Interval& resident) {
    const bool transfer = record.sender != record.receiver;
    if (transfer ? record.ready.count() > resident.end
                 : record.kind == CollectiveKind::kSendReceive)
        return {};
    return {
        std::max(resident.start, record.stalled.count()),
        std::min(resident.end, record.ready.count())};
}

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
    Records records(outcome);
    for (std::size_t r = 0; r < graph.ranks.size(); ++r) {
        const RankGraph& rank = *graph.ranks[r];
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
            sum.blocks +=
                static_cast<double>(stretch.end - stretch.start) * record->choice.channels;
            waiting.push_back(waiting_of(*record, stretch));
        }
        merge_intervals(kernels);
        if (!copies.empty()) {
            merge_intervals(copies);
            std::uint64_t bare = 0;
            for (const Interval& s : copies)
                bare += s.end - s.start - covered(kernels, s.start, s.end);
            sum.exposed_copies = sum.exposed_copies.value_or(0) + static_cast<double>(bare);
        }
        merge_intervals(busy);
        sum.waiting += static_cast<double>(merge_intervals(waiting));
        std::uint64_t exposed_waiting = 0;
        for (const Interval& s : waiting)
            exposed_waiting += s.end - s.start - covered(busy, s.start, s.end);
        sum.exposed_waiting += static_cast<double>(exposed_waiting);
        std::uint64_t exposed = 0;
        for (const Interval& s : communication_stretches(rank, outcome.times[r])) {
            exposed += s.end - s.start - covered(busy, s.start, s.end);
            sum.collectives += static_cast<double>(s.end - s.start);
        }
        sum.forward +=
            static_cast<double>(merge_intervals(phases[static_cast<std::size_t>(Phase::kForward)]));
        sum.backward += static_cast<double>(
            merge_intervals(phases[static_cast<std::size_t>(Phase::kBackward)]));
        sum.optimizer += static_cast<double>(
            merge_intervals(phases[static_cast<std::size_t>(Phase::kOptimizer)]));
        sum.other +=
            static_cast<double>(merge_intervals(phases[static_cast<std::size_t>(Phase::kOther)]));
        sum.exposed += static_cast<double>(exposed);
    }
    const double share = 1e-6 / static_cast<double>(ranks_at_work(graph)) /
                         std::min(steps, graph.steps) / graph.training.rounds;
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

namespace {

/// What moves the data, shown in the column of protocols.
std::string_view mover_of(const Choice& choice) {
    switch (choice.kernels) {
    case Kernels::kCopyEngine:
        return "copy_engine";
    case Kernels::kSymmetric:
        return choice.protocol == Protocol::kLl ? "symmetric_ll" : "symmetric";
    case Kernels::kClassic:
        break;
    }
    if (moves_by_copies(choice.algorithm))
        return "copies";
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
        if (record.as_traced) {
            result.algorithm = "as_traced";
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
