// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/join.h"

#include "core/error.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <variant>

namespace switchfold {

namespace {

/// Changes each distinct rank graph once; ranks that share one keep sharing it.
template <class Change>
void change_ranks(ExecutionGraph& graph, const Change& change) {
    std::map<const RankGraph*, std::shared_ptr<const RankGraph>> changed;
    for (auto& rank : graph.ranks) {
        auto& fresh = changed[rank.get()];
        if (!fresh) {
            auto copy = std::make_shared<RankGraph>(*rank);
            change(*copy);
            fresh = std::move(copy);
        }
        rank = fresh;
    }
}

template <class Message>
void move_peer(OperationBody& body, std::span<const std::uint32_t> on) {
    if (auto* message = std::get_if<Message>(&body))
        message->peer = on[message->peer];
}

/// Number of a rank's collectives by group.
std::map<std::uint32_t, std::uint64_t> collectives_of(const RankGraph& rank) {
    std::map<std::uint32_t, std::uint64_t> counts;
    for (const Operation& operation : rank.operations)
        if (const auto* c = std::get_if<CollectiveOperation>(&operation.body))
            ++counts[c->group];
    return counts;
}

/// Appends the k-th repetition (from 0) of `once` to the repetitions before it.
class Repetition {
public:
    Repetition(const RankGraph& once, std::uint32_t steps) :
        once_(once),
        steps_(steps),
        counts_(collectives_of(once)),
        first_(once.streams.size(), kNone),
        last_(once.streams.size(), kNone) {
        for (std::uint32_t i = 0; i < once.operations.size(); ++i) {
            const std::uint32_t stream = once.operations[i].stream;
            if (first_[stream] == kNone)
                first_[stream] = i;
            last_[stream] = i;
        }
    }

    void add_to(RankGraph& out, std::uint32_t k) const {
        const auto length = static_cast<std::uint32_t>(once_.operations.size());
        const std::uint32_t offset = k * length;
        for (std::uint32_t i = 0; i < length; ++i) {
            Operation operation = once_.operations[i];
            operation.step += k * steps_;
            for (std::uint32_t& dependency : operation.dependencies)
                dependency += offset;
            if (k > 0 && first_[operation.stream] == i)
                for (const std::uint32_t last : last_)
                    if (last != kNone && last != last_[operation.stream])
                        operation.dependencies.push_back(offset - length + last);
            if (auto* c = std::get_if<CollectiveOperation>(&operation.body))
                c->sequence += k * counts_.at(c->group);
            out.operations.push_back(std::move(operation));
        }
        for (Span span : once_.spans) {
            span.first += offset;
            span.last += offset;
            out.spans.push_back(span);
        }
        for (MemoryChange change : once_.memory) {
            change.operation += offset;
            out.memory.push_back(change);
        }
    }

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    const RankGraph& once_;
    std::uint32_t steps_;
    std::map<std::uint32_t, std::uint64_t> counts_;
    std::vector<std::uint32_t> first_;  ///< index of the first operation, by stream
    std::vector<std::uint32_t> last_;
};

/// Indices of a graph's names, groups and exchanges in the joined graph's tables.
struct Offsets {
    std::uint32_t names = 0;
    std::uint32_t groups = 0;
    std::uint32_t experts = 0;
    std::uint32_t exchanges = 0;
};

void shift(RankGraph& rank, const Offsets& by) {
    for (Operation& operation : rank.operations) {
        operation.name += by.names;
        if (auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
            c->group += by.groups;
            c->experts += by.experts;
            if (c->exchange != 0)
                c->exchange += by.exchanges;
        }
    }
    for (Span& span : rank.spans)
        span.name += by.names;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

bool works(const RankGraph& rank) {
    return !rank.operations.empty();
}

}  // namespace

ExecutionGraph place_on(const ExecutionGraph& graph, std::span<const std::uint32_t> on) {
    SWITCHFOLD_CHECK(
        on.size() == graph.ranks.size() &&
            std::is_sorted(on.begin(), on.end(), std::less_equal<>()),
        "{} ranks are placed on {}", graph.ranks.size(), on.size());
    ExecutionGraph out = graph;
    change_ranks(out, [&](RankGraph& rank) {
        for (Operation& operation : rank.operations) {
            move_peer<SendOperation>(operation.body, on);
            move_peer<ReceiveOperation>(operation.body, on);
        }
    });
    for (Group& group : out.groups)
        for (std::uint32_t& rank : group.ranks)
            rank = on[rank];
    std::vector<std::shared_ptr<const RankGraph>> ranks(
        on.back() + 1, std::make_shared<const RankGraph>());
    for (std::size_t r = 0; r < on.size(); ++r)
        ranks[on[r]] = std::move(out.ranks[r]);
    out.ranks = std::move(ranks);
    return out;
}

ExecutionGraph repeat(const ExecutionGraph& graph, std::uint32_t times) {
    SWITCHFOLD_CHECK(graph.training.rounds == 1, "a graph of rounds that overlap is repeated");
    ExecutionGraph out = graph;
    out.steps = graph.steps * times;
    change_ranks(out, [&](RankGraph& rank) {
        const RankGraph once = rank;
        const Repetition repetition(once, graph.steps);
        for (std::uint32_t k = 1; k < times; ++k)
            repetition.add_to(rank, k);
    });
    return out;
}

void delay(ExecutionGraph& graph, Time by) {
    if (by == Time())
        return;
    change_ranks(graph, [&](RankGraph& rank) {
        std::vector<bool> begun(rank.streams.size(), false);
        for (Operation& operation : rank.operations) {
            if (!begun[operation.stream] && operation.dependencies.empty())
                operation.gap += by;
            begun[operation.stream] = true;
        }
    });
}

ExecutionGraph join(std::span<const ExecutionGraph> graphs) {
    SWITCHFOLD_CHECK(!graphs.empty(), "nothing is joined");
    ExecutionGraph out;
    out.steps = graphs.front().steps;
    out.training = graphs.front().training;
    out.provenance = graphs.front().provenance;
    const auto idle = std::make_shared<const RankGraph>();
    for (const ExecutionGraph& graph : graphs) {
        const Offsets offsets{
            static_cast<std::uint32_t>(out.names.size()),
            static_cast<std::uint32_t>(out.groups.size()),
            static_cast<std::uint32_t>(out.experts.size()),
            static_cast<std::uint32_t>(out.exchanges.size())};
        ExecutionGraph moved = graph;
        change_ranks(moved, [&](RankGraph& rank) { shift(rank, offsets); });
        append(out.names, graph.names);
        append(out.groups, graph.groups);
        append(out.experts, graph.experts);
        append(out.exchanges, graph.exchanges);
        if (moved.ranks.size() > out.ranks.size())
            out.ranks.resize(moved.ranks.size(), idle);
        for (std::size_t r = 0; r < moved.ranks.size(); ++r) {
            if (!works(*moved.ranks[r]))
                continue;
            SWITCHFOLD_CHECK(!works(*out.ranks[r]), "two graphs stand on rank {}", r);
            out.ranks[r] = std::move(moved.ranks[r]);
        }
    }
    return out;
}

ExecutionGraph part_of(const ExecutionGraph& joined, const ExecutionGraph& part) {
    ExecutionGraph out = joined;
    out.steps = part.steps;
    out.training = part.training;
    out.provenance = part.provenance;
    const auto idle = std::make_shared<const RankGraph>();
    for (std::size_t r = 0; r < out.ranks.size(); ++r)
        if (r >= part.ranks.size() || !works(*part.ranks[r]))
            out.ranks[r] = idle;
    return out;
}

ExecutionGraph first_steps(const ExecutionGraph& graph, std::uint32_t steps) {
    if (steps >= graph.steps)
        return graph;
    ExecutionGraph out = graph;
    out.steps = steps;
    change_ranks(out, [&](RankGraph& rank) {
        const auto end = std::find_if(
            rank.operations.begin(), rank.operations.end(),
            [&](const Operation& operation) { return operation.step >= steps; });
        const auto kept = static_cast<std::uint32_t>(end - rank.operations.begin());
        rank.operations.shrink(kept);
        std::erase_if(rank.spans, [&](const Span& span) { return span.last >= kept; });
        std::erase_if(
            rank.memory, [&](const MemoryChange& change) { return change.operation >= kept; });
    });
    return out;
}

}  // namespace switchfold
