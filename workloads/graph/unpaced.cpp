// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/unpaced.h"

#include "workloads/graph/clock_noise.h"
#include "workloads/graph/schedule.h"
#include "workloads/graph/serial_order.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// A launch precedes what it launches by microseconds; of this share it precedes none.
constexpr double kOfAll = 0.95;

bool sends_or_receives(const Operation& operation) {
    return is_message(operation) || is_held_message(operation);
}

bool holds_messages(const RankGraph& rank) {
    return std::any_of(rank.operations.begin(), rank.operations.end(), is_held_message);
}

class Unpacer {
public:
    Unpacer(const RankGraph& rank, Pauses pauses) : rank_(rank), pauses_(pauses) {}

    /// Null if the rank's launches are known.
    std::shared_ptr<const RankGraph> run() {
        schedule_ = evaluate(rank_, [](std::uint32_t /*index*/, const Operation& operation) {
            return measured_duration(operation);
        });
        return is_paced() ? unpaced() : nullptr;
    }

private:
    /// Whether almost every operation began as its host's last one ended. What waits for one that
    /// ends a little after it began, by the clock of another stream, makes all behind it late.
    [[nodiscard]] bool is_paced() const {
        std::size_t all = 0;
        std::size_t at_once = 0;
        Time late;
        for (std::uint32_t i = 0; i < rank_.operations.size(); ++i) {
            const Operation& operation = rank_.operations[i];
            if (!is_gpu(rank_, operation))
                continue;
            const Time start = schedule_.operations[i].start;
            Time most = late;
            for (const std::uint32_t dependency : operation.dependencies)
                if (is_gpu(rank_, rank_.operations[dependency]) &&
                    schedule_.operations[dependency].end == start)
                    most = late + kClockNoise;
            for (const std::uint32_t dependency : operation.dependencies)
                if (!is_gpu(rank_, rank_.operations[dependency])) {
                    ++all;
                    const Time host = schedule_.operations[dependency].end;
                    if (start > host + most)
                        continue;
                    ++at_once;
                    late = std::max(late, start - std::min(start, host));
                }
        }
        return all > 0 && static_cast<double>(at_once) >= kOfAll * static_cast<double>(all);
    }

    /// GPU operations of a stream in the order of their ends, which is that of the stream.
    struct Ended {
        bool messages = false;
        bool collectives = false;
        std::vector<std::uint32_t> operations;
    };
    [[nodiscard]] std::vector<Ended> by_stream() const {
        std::vector<Ended> streams(rank_.streams.size());
        for (std::uint32_t i = 0; i < rank_.operations.size(); ++i) {
            const Operation& operation = rank_.operations[i];
            if (!is_gpu(rank_, operation))
                continue;
            Ended& stream = streams[operation.stream];
            stream.messages = stream.messages || sends_or_receives(operation);
            stream.collectives = stream.collectives || is_collective(operation);
            stream.operations.push_back(i);
        }
        return streams;
    }

    /// What waits for a message is known by its time alone, as is what a message waits for: without
    /// the host's pace a pipeline's stages would run before what they receive. So each waits for
    /// the last of the other that had ended.
    /// \returns whether there is one that ended after what ran before on the own stream began.
    [[nodiscard]] bool wait_for_messages(
        const std::vector<Ended>& streams, std::uint32_t index, Dependencies& dependencies) const {
        bool since = false;
        const auto& mine = streams[rank_.operations[index].stream].operations;
        const auto me = std::lower_bound(mine.begin(), mine.end(), index);
        const Time before =
            me == mine.begin() ? Time() : schedule_.operations[*std::prev(me)].start;
        const bool own = streams[rank_.operations[index].stream].messages;
        const Time start = schedule_.operations[index].start;
        for (const Ended& other : streams) {
            if (other.operations.empty() || other.messages == own || (own && other.collectives))
                continue;
            const auto after = std::partition_point(
                other.operations.begin(), other.operations.end(),
                [&](std::uint32_t i) { return i < index && schedule_.operations[i].end <= start; });
            if (after == other.operations.begin())
                continue;
            const std::uint32_t last = *std::prev(after);
            since = since || schedule_.operations[last].end >= before;
            if (std::find(dependencies.begin(), dependencies.end(), last) == dependencies.end())
                dependencies.push_back(last);
        }
        return since;
    }

    [[nodiscard]] std::shared_ptr<const RankGraph> unpaced() const {
        auto out = std::make_shared<RankGraph>(rank_);
        const std::vector<Ended> streams = by_stream();
        const bool held = holds_messages(rank_);
        std::vector<Time> ended(rank_.streams.size());
        Time computed_until;
        bool first = true;
        for (std::uint32_t i = 0; i < out->operations.size(); ++i) {
            Operation& operation = out->operations[i];
            if (!is_gpu(rank_, operation)) {
                // Nobody knows how long it takes beside a GPU that is done earlier. Where peers
                // were not traced it ends with the step, for which this rank may wait.
                if (auto* const host = std::get_if<HostDelayOperation>(&operation.body);
                    host != nullptr && !first && !held)
                    host->duration = Time();
                continue;
            }
            const Schedule::Interval& ran = schedule_.operations[i];
            if (!first) {
                Dependencies kept;
                for (const std::uint32_t dependency : operation.dependencies)
                    if (is_gpu(rank_, rank_.operations[dependency]))
                        kept.push_back(dependency);
                const bool waited = wait_for_messages(streams, i, kept);
                operation.dependencies = std::move(kept);
                Time ready = ended[operation.stream];
                if (pauses_ == Pauses::kOfCompute)
                    ready = std::max(ready, computed_until);
                for (const std::uint32_t dependency : operation.dependencies)
                    ready = std::max(ready, schedule_.operations[dependency].end);
                operation.gap = !waited && ran.start > ready ? ran.start - ready : Time();
            }
            first = false;
            ended[operation.stream] = std::max(ended[operation.stream], ran.end);
            if (!communicates(operation))
                computed_until = std::max(computed_until, ran.end);
        }
        return out;
    }

    const RankGraph& rank_;
    Pauses pauses_;
    Schedule schedule_;
};

}  // namespace

ExecutionGraph without_pace(const ExecutionGraph& graph, Pauses pauses) {
    ExecutionGraph out = graph;
    if (graph.provenance.traced_ranks == 0)
        return out;
    std::map<const RankGraph*, std::shared_ptr<const RankGraph>> done;
    for (auto& rank : out.ranks) {
        const auto [at, fresh] = done.try_emplace(rank.get());
        if (fresh && (pauses == Pauses::kOfCompute || !holds_messages(*rank)))
            at->second = Unpacer(*rank, pauses).run();
        if (at->second)
            rank = at->second;
    }
    return out;
}

}  // namespace switchfold
