// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/without_overlap.h"

#include "workloads/graph/common_order.h"
#include "workloads/graph/serial_order.h"
#include "workloads/graph/shared_waits.h"

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

/// Messages keep their place: they wait for other ranks' work.
std::shared_ptr<const RankGraph>
separate(const RankGraph& rank, const std::vector<std::uint32_t>& order) {
    auto out = std::make_shared<RankGraph>();
    out->streams = rank.streams;
    std::vector<std::uint32_t> new_index(rank.operations.size(), 0);
    std::uint32_t last_collective = SerialOrder::kNone;
    std::vector<std::uint32_t> waited_for(rank.streams.size(), SerialOrder::kNone);
    // The last GPU operation of each stream since the last collective: the next collective waits
    // for them.
    std::map<std::uint32_t, std::uint32_t> since;
    for (const std::uint32_t old : order) {
        Operation operation = rank.operations[old];
        const auto index = static_cast<std::uint32_t>(out->operations.size());
        for (std::uint32_t& dependency : operation.dependencies)
            dependency = new_index[dependency];
        if (is_gpu(rank, operation) && !is_message(operation) && !is_held_message(operation)) {
            std::uint32_t& waited = waited_for[operation.stream];
            if (waited != last_collective)
                operation.dependencies.push_back(last_collective);
            waited = last_collective;
            if (is_collective(operation)) {
                for (const auto& [stream, last] : since)
                    if (stream != operation.stream)
                        operation.dependencies.push_back(last);
                since.clear();
                last_collective = waited = index;
            } else {
                since[operation.stream] = index;
            }
        }
        new_index[old] = index;
        out->operations.push_back(std::move(operation));
    }
    out->spans = rank.spans;
    for (Span& span : out->spans) {
        span.first = new_index[span.first];
        span.last = new_index[span.last];
    }
    out->held = rank.held;
    out->memory = rank.memory;
    for (MemoryChange& change : out->memory)
        change.operation = new_index[change.operation];
    SWITCHFOLD_CHECK(
        out->operations.size() == rank.operations.size(),
        "{} of {} operations are in the serial order", out->operations.size(),
        rank.operations.size());
    return out;
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

ExecutionGraph without_overlap(const ExecutionGraph& graph) {
    // One program runs in one order. What a rank waits for decides it, not when it runs.
    ExecutionGraph waiting = graph;
    waiting.ranks = with_shared_waits(graph);
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
