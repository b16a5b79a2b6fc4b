// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/graph/serial_order.h"

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold::test_data {

/// A rank with two streams for compute, one for each of three groups and two for messages.
struct RankBuilder {
    RankBuilder() {
        for (const char* const name : {"7", "8", "20", "21", "22", "30", "31"})
            graph.streams.push_back({StreamKind::kGpu, name, 0});
    }
    std::uint32_t
    add(std::uint32_t stream, const std::vector<std::uint32_t>& after, OperationBody body) {
        Operation operation;
        operation.stream = stream;
        operation.step = step;
        operation.dependencies = after;
        operation.body = std::move(body);
        graph.operations.push_back(std::move(operation));
        return static_cast<std::uint32_t>(graph.operations.size() - 1);
    }
    std::uint32_t kernel(const std::vector<std::uint32_t>& after, std::uint32_t stream = 0) {
        KernelOperation body;
        body.isolated = body.measured = microseconds(1);
        return add(stream, after, body);
    }
    std::uint32_t collective(
        std::uint32_t group, std::uint64_t sequence, const std::vector<std::uint32_t>& after) {
        CollectiveOperation body;
        body.group = group;
        body.sequence = sequence;
        body.measured = microseconds(1);
        return add(2 + group, after, body);
    }
    std::uint32_t
    send(std::uint32_t to, std::uint64_t tag, const std::vector<std::uint32_t>& after) {
        return add(5, after, SendOperation{to, kibibytes(1), tag});
    }
    std::uint32_t receive(
        std::uint32_t from, std::uint64_t tag, const std::vector<std::uint32_t>& after,
        std::uint32_t stream = 5) {
        return add(stream, after, ReceiveOperation{from, kibibytes(1), tag});
    }

    RankGraph graph;
    std::uint32_t step = 0;
};

/// Whether all operations end if collectives end together and sends with their receives.
inline bool runs_through(const ExecutionGraph& graph) {
    using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
    using Part = std::pair<std::size_t, std::size_t>;
    std::map<Key, std::vector<Part>> parts;
    std::vector<std::vector<Key>> keys(graph.ranks.size());
    for (std::size_t r = 0; r < graph.ranks.size(); ++r) {
        std::map<std::tuple<std::uint64_t, std::uint64_t, bool>, std::uint64_t> counts;
        for (std::size_t i = 0; i < graph.ranks[r]->operations.size(); ++i) {
            const OperationBody& body = graph.ranks[r]->operations[i].body;
            Key key{r, i, 0, 2};
            if (const auto* c = std::get_if<CollectiveOperation>(&body))
                key = {c->group, c->sequence, 0, 1};
            else if (const auto* send = std::get_if<SendOperation>(&body))
                key = {
                    r << 32U | send->peer, send->tag, counts[{send->peer, send->tag, true}]++, 0};
            else if (const auto* receive = std::get_if<ReceiveOperation>(&body))
                key = {
                    std::uint64_t{receive->peer} << 32U | r, receive->tag,
                    counts[{receive->peer, receive->tag, false}]++, 0};
            keys[r].push_back(key);
            parts[key].push_back({r, i});
        }
    }
    std::vector<std::set<std::size_t>> ended(graph.ranks.size());
    const auto ready = [&](const Part& part) {
        const auto& operations = graph.ranks[part.first]->operations;
        const Operation& operation = operations[part.second];
        for (const std::uint32_t before : operation.dependencies)
            if (!ended[part.first].contains(before))
                return false;
        for (std::size_t i = 0; i < part.second; ++i)
            if (operations[i].stream == operation.stream && !ended[part.first].contains(i))
                return false;
        return true;
    };
    for (bool moved = true; std::exchange(moved, false);)
        for (auto at = parts.begin(); at != parts.end();)
            if (std::all_of(at->second.begin(), at->second.end(), ready)) {
                for (const auto& [r, i] : at->second)
                    ended[r].insert(i);
                at = parts.erase(at);
                moved = true;
            } else {
                ++at;
            }
    return parts.empty();
}

/// Whether of a collective and any other GPU operation but a message, one waits for the other.
inline bool keeps_collectives_apart(const RankGraph& rank) {
    std::vector<std::set<std::size_t>> before(rank.operations.size());
    std::map<std::uint32_t, std::size_t> last;
    for (std::size_t i = 0; i < rank.operations.size(); ++i) {
        const Operation& operation = rank.operations[i];
        const auto add = [&](std::size_t other) {
            before[i].insert(other);
            before[i].insert(before[other].begin(), before[other].end());
        };
        for (const std::uint32_t dependency : operation.dependencies)
            add(dependency);
        if (last.contains(operation.stream))
            add(last.at(operation.stream));
        last[operation.stream] = i;
        for (std::size_t other = 0; other < i; ++other)
            if ((is_collective(operation) || is_collective(rank.operations[other])) &&
                !is_message(operation) && !is_message(rank.operations[other]) &&
                !before[i].contains(other))
                return false;
    }
    return true;
}

/// The same rank, its operations launched in another order: any that keeps its streams' and
/// dependencies.
inline RankGraph launched_otherwise(const RankGraph& rank) {
    RankGraph out;
    out.streams = rank.streams;
    std::vector<std::uint32_t> left(rank.operations.size());
    for (std::uint32_t i = 0; i < left.size(); ++i)
        left[i] = i;
    std::vector<std::uint32_t> place(rank.operations.size(), UINT32_MAX);
    while (!left.empty()) {
        std::vector<std::uint32_t> able;
        std::set<std::uint32_t> streams;
        for (const std::uint32_t i : left) {
            const Operation& operation = rank.operations[i];
            const bool first = streams.insert(operation.stream).second;
            if (first && std::all_of(
                             operation.dependencies.begin(), operation.dependencies.end(),
                             [&](std::uint32_t before) { return place[before] != UINT32_MAX; }))
                able.push_back(i);
        }
        const std::uint32_t next = *rc::gen::elementOf(able);
        place[next] = static_cast<std::uint32_t>(out.operations.size());
        Operation operation = rank.operations[next];
        for (std::uint32_t& dependency : operation.dependencies)
            dependency = place[dependency];
        out.operations.push_back(std::move(operation));
        left.erase(std::find(left.begin(), left.end(), next));
    }
    return out;
}

/// Two to four ranks that run through: kernels, collectives of up to three groups, messages; each
/// rank launches them in an order of its own. Steps ascend.
inline ExecutionGraph random_ranks() {
    ExecutionGraph graph;
    graph.names = {"operation"};
    const auto ranks = *rc::gen::inRange<std::uint32_t>(2, 5);
    for (std::uint32_t g = 0; g < 3; ++g) {
        Group group{std::to_string(g), {}};
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            if (*rc::gen::inRange(0, 4) != 0)
                group.ranks.push_back(rank);
        if (group.ranks.empty())
            group.ranks = {0};
        graph.groups.push_back(std::move(group));
    }
    std::vector<RankBuilder> built(ranks);
    const auto after = [&](std::uint32_t rank) {
        std::vector<std::uint32_t> before;
        const auto count = static_cast<std::uint32_t>(built[rank].graph.operations.size());
        for (auto n = count == 0 ? 0 : *rc::gen::inRange(0, 3); n > 0; --n)
            before.push_back(*rc::gen::inRange<std::uint32_t>(0, count));
        return before;
    };
    std::vector<std::uint64_t> sequences(graph.groups.size(), 0);
    for (auto events = *rc::gen::inRange(0, 30); events > 0; --events) {
        if (*rc::gen::inRange(0, 12) == 0)
            for (RankBuilder& rank : built)
                ++rank.step;
        const auto what = *rc::gen::inRange(0, 5);
        if (what < 2) {
            const auto rank = *rc::gen::inRange<std::uint32_t>(0, ranks);
            built[rank].kernel(after(rank), *rc::gen::inRange<std::uint32_t>(0, 2));
        } else if (what < 4) {
            const auto group = *rc::gen::inRange<std::uint32_t>(0, 3);
            for (const std::uint32_t rank : graph.groups[group].ranks)
                built[rank].collective(group, sequences[group], after(rank));
            ++sequences[group];
        } else {
            const auto from = *rc::gen::inRange<std::uint32_t>(0, ranks);
            const auto to = (from + *rc::gen::inRange<std::uint32_t>(1, ranks)) % ranks;
            const auto tag = *rc::gen::inRange<std::uint64_t>(0, 2);
            built[from].send(to, tag, after(from));
            built[to].receive(from, tag, after(to), 5 + static_cast<std::uint32_t>(tag));
        }
    }
    for (const RankBuilder& rank : built)
        graph.ranks.push_back(std::make_shared<RankGraph>(launched_otherwise(rank.graph)));
    graph.steps = built[0].step + 1;
    return graph;
}

}  // namespace switchfold::test_data
