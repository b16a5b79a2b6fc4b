// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/without_overlap.h"

#include "workloads/graph/bare_collectives.h"
#include "workloads/graph/common_order.h"
#include "workloads/graph/serial_order.h"
#include "workloads/graph/shared_waits.h"
#include "workloads/graph/unpaced.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace switchfold {

namespace {

std::string no_order(const std::string& why) {
    return fmt::format(
        "without overlap the ranks deadlock, because no order of their collectives and messages "
        "suits all of them: {}",
        why);
}

/// An order of one rank that follows its own launches alone: a collective launched first goes
/// first.
std::vector<std::uint32_t> own_order(const RankGraph& rank) {
    SerialOrder order(rank, false);
    std::vector<std::uint32_t> taken;
    taken.reserve(rank.operations.size());
    while (!order.done()) {
        std::uint32_t next = order.next_own();
        if (next == SerialOrder::kNone && !order.takeable().empty()) {
            next = *order.takeable().begin();
            order.take(next);
        }
        if (next == SerialOrder::kNone)
            next = order.next_of_later_step();
        SWITCHFOLD_CHECK(next != SerialOrder::kNone, "a rank's operations wait for each other");
        taken.push_back(next);
    }
    return taken;
}

/// Copies one rank's operations in an order in which collectives run alone.
class Separator {
public:
    Separator(const RankGraph& rank, const std::vector<std::uint32_t>& order) :
        rank_(rank),
        order_(order),
        out_(std::make_shared<RankGraph>()),
        new_index_(rank.operations.size(), 0),
        waited_for_(rank.streams.size(), SerialOrder::kNone),
        last_(rank.streams.size(), SerialOrder::kNone),
        pauses_(rank.streams.size(), SerialOrder::kNone) {}

    std::shared_ptr<const RankGraph> run() {
        out_->streams = rank_.streams;
        for (const std::uint32_t old : order_)
            add(old);
        out_->spans = rank_.spans;
        for (Span& span : out_->spans) {
            span.first = new_index_[span.first];
            span.last = new_index_[span.last];
        }
        out_->held = rank_.held;
        out_->memory = rank_.memory;
        for (MemoryChange& change : out_->memory)
            change.operation = new_index_[change.operation];
        SWITCHFOLD_CHECK(
            out_->operations.size() == rank_.operations.size() + added_,
            "{} of {} operations are in the serial order", out_->operations.size() - added_,
            rank_.operations.size());
        return std::move(out_);
    }

private:
    void add(std::uint32_t old) {
        Operation operation = rank_.operations[old];
        for (std::uint32_t& dependency : operation.dependencies)
            dependency = new_index_[dependency];
        const std::uint32_t stream = operation.stream;
        // Messages keep their place: they wait for other ranks' work.
        const bool apart =
            is_gpu(rank_, operation) && !is_message(operation) && !is_held_message(operation);
        if (apart)
            wait_for_others(operation);
        const auto index = static_cast<std::uint32_t>(out_->operations.size());
        if (apart && is_collective(operation)) {
            since_.clear();
            last_collective_ = waited_for_[stream] = index;
        } else if (apart) {
            since_[stream] = index;
        }
        new_index_[old] = last_[stream] = index;
        out_->operations.push_back(std::move(operation));
    }

    /// Work waits for the last collective, and a collective for all work since that one.
    void wait_for_others(Operation& operation) {
        std::vector<std::uint32_t> others;
        std::uint32_t& waited = waited_for_[operation.stream];
        if (waited != last_collective_)
            others.push_back(last_collective_);
        waited = last_collective_;
        if (is_collective(operation))
            for (const auto& [stream, last] : since_)
                if (stream != operation.stream)
                    others.push_back(last);
        if (others.empty())
            return;
        if (operation.gap > kPause)
            pause_beside(operation);
        for (const std::uint32_t other : others)
            operation.dependencies.push_back(other);
    }

    /// What an operation paused for had begun when the operations ended that it waits for by
    /// itself: the pause goes by while it waits for others here.
    void pause_beside(Operation& operation) {
        std::uint32_t& stream = pauses_[operation.stream];
        if (stream == SerialOrder::kNone) {
            stream = static_cast<std::uint32_t>(out_->streams.size());
            out_->streams.push_back({StreamKind::kHost, "pauses", 0});
        }
        Operation pause;
        pause.name = operation.name;
        pause.stream = stream;
        pause.step = operation.step;
        pause.phase = operation.phase;
        pause.dependencies = operation.dependencies;
        if (last_[operation.stream] != SerialOrder::kNone)
            pause.dependencies.push_back(last_[operation.stream]);
        pause.body = HostDelayOperation{operation.gap};
        operation.gap = Time();
        operation.dependencies.push_back(static_cast<std::uint32_t>(out_->operations.size()));
        out_->operations.push_back(std::move(pause));
        ++added_;
    }

    /// Shorter gaps are those of launches, which an operation has behind whatever it waits for.
    static constexpr Time kPause = microseconds(20);

    const RankGraph& rank_;
    const std::vector<std::uint32_t>& order_;
    std::shared_ptr<RankGraph> out_;
    std::vector<std::uint32_t> new_index_;
    std::uint32_t last_collective_ = SerialOrder::kNone;
    std::vector<std::uint32_t> waited_for_;  ///< last collective, by stream
    /// The last GPU operation of each stream since the last collective.
    std::map<std::uint32_t, std::uint32_t> since_;
    std::vector<std::uint32_t> last_;    ///< operation, by stream
    std::vector<std::uint32_t> pauses_;  ///< stream of its pauses, by stream
    std::size_t added_ = 0;
};

std::shared_ptr<const RankGraph>
separate(const RankGraph& rank, const std::vector<std::uint32_t>& order) {
    return Separator(rank, order).run();
}

/// Each rank in its own order, which is that of `waiting`.
ExecutionGraph in_own_orders(const ExecutionGraph& graph, const ExecutionGraph& waiting) {
    ExecutionGraph out = graph;
    std::map<const RankGraph*, std::shared_ptr<const RankGraph>> done;
    for (std::size_t r = 0; r < out.ranks.size(); ++r) {
        auto& separated = done[out.ranks[r].get()];
        if (!separated)
            separated = separate(*out.ranks[r], own_order(*waiting.ranks[r]));
        out.ranks[r] = separated;
    }
    return out;
}

ExecutionGraph
in_orders(const ExecutionGraph& graph, const std::vector<std::vector<std::uint32_t>>& orders) {
    std::vector<std::size_t> alike_of;
    const std::vector<RanksAlike> alike = ranks_alike(graph, &alike_of);
    ExecutionGraph out = graph;
    using Source = std::pair<const RankGraph*, std::vector<std::uint32_t>>;
    std::map<Source, std::shared_ptr<const RankGraph>> done;
    for (std::size_t r = 0; r < out.ranks.size(); ++r) {
        auto& separated = done[{out.ranks[r].get(), orders[alike_of[r]]}];
        if (!separated)
            separated = separate(*out.ranks[r], orders[alike_of[r]]);
        out.ranks[r] = separated;
    }
    return out;
}

bool has_messages(const std::vector<RanksAlike>& ranks) {
    return std::any_of(ranks.begin(), ranks.end(), [](const RanksAlike& alike) {
        const auto& operations = alike.graph->operations;
        return std::any_of(operations.begin(), operations.end(), is_message);
    });
}

bool runs_through(const ExecutionGraph& serial, bool messages, Sends sends) {
    const std::vector<RanksAlike> alike = ranks_alike(serial);
    std::string ignored;
    return messages ? common_order(alike, serial.groups, sends, ignored).has_value()
                    : collectives_agree(alike);
}

}  // namespace

NoCommonOrder::NoCommonOrder(const std::string& why) :
    SimulationError("the run without overlap", Time(), no_order(why)), note_(no_order(why)) {}

ExecutionGraph without_overlap(const ExecutionGraph& overlapped) {
    const ExecutionGraph graph = without_pace(overlapped, Pauses::kOfCompute);
    // One program runs in one order. What a rank waits for decides it, not when it runs.
    ExecutionGraph waiting = graph;
    if (graph.provenance.traced_ranks > 0)
        waiting.ranks = with_waits_for_bare(graph);
    waiting.ranks = with_shared_waits(waiting);
    const std::vector<RanksAlike> alike = ranks_alike(waiting);
    ExecutionGraph serial = in_own_orders(graph, waiting);
    if (alike.size() < 2)
        return serial;
    const bool messages = has_messages(alike);
    std::string why;
    for (const Sends sends : {Sends::kMeetTheirReceives, Sends::kAreBuffered}) {
        if (runs_through(serial, messages, sends))
            return serial;
        if (const auto orders = common_order(alike, graph.groups, sends, why))
            return in_orders(graph, *orders);
    }
    throw NoCommonOrder(why);
}

}  // namespace switchfold
