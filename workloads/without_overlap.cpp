// SPDX-License-Identifier: Apache-2.0
#include "workloads/without_overlap.h"

#include <functional>
#include <map>
#include <queue>

namespace switchfold {

namespace {

bool is_gpu(const RankGraph& rank, const Operation& operation) {
    return rank.streams[operation.stream].kind == StreamKind::kGpu;
}

bool is_collective(const Operation& operation) {
    return std::holds_alternative<CollectiveOperation>(operation.body);
}

std::shared_ptr<RankGraph> separate(const RankGraph& rank) {
    const auto count = static_cast<std::uint32_t>(rank.operations.size());
    std::vector<std::uint32_t> waiting(count, 0);
    std::vector<std::vector<std::uint32_t>> successors(count);
    std::vector<std::uint32_t> last_on_stream(rank.streams.size(), UINT32_MAX);
    for (std::uint32_t i = 0; i < count; ++i) {
        const Operation& operation = rank.operations[i];
        const auto after = [&](std::uint32_t before) {
            successors[before].push_back(i);
            ++waiting[i];
        };
        for (const std::uint32_t dependency : operation.dependencies)
            after(dependency);
        std::uint32_t& last = last_on_stream[operation.stream];
        if (last != UINT32_MAX)
            after(last);
        last = i;
    }
    // A topological order that takes whatever needs no collective first, else the collective launched first.
    using Queue = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;
    Queue plain;
    Queue collectives;
    const auto release = [&](std::uint32_t i) {
        (is_collective(rank.operations[i]) ? collectives : plain).push(i);
    };
    for (std::uint32_t i = 0; i < count; ++i)
        if (waiting[i] == 0)
            release(i);
    auto out = std::make_shared<RankGraph>();
    out->streams = rank.streams;
    out->operations.reserve(count);
    std::vector<std::uint32_t> new_index(count, 0);
    std::uint32_t last_collective = UINT32_MAX;
    // The last GPU operation of each stream since the last collective: what the next one has to wait for.
    std::map<std::uint32_t, std::uint32_t> since;
    while (!plain.empty() || !collectives.empty()) {
        Queue& queue = plain.empty() ? collectives : plain;
        const std::uint32_t old = queue.top();
        queue.pop();
        Operation operation = rank.operations[old];
        const auto index = static_cast<std::uint32_t>(out->operations.size());
        for (std::uint32_t& dependency : operation.dependencies)
            dependency = new_index[dependency];
        if (is_gpu(rank, operation)) {
            if (last_collective != UINT32_MAX)
                operation.dependencies.push_back(last_collective);
            if (is_collective(operation)) {
                for (const auto& [stream, last] : since)
                    operation.dependencies.push_back(last);
                since.clear();
                last_collective = index;
            } else {
                since[operation.stream] = index;
            }
        }
        new_index[old] = index;
        out->operations.push_back(std::move(operation));
        for (const std::uint32_t next : successors[old])
            if (--waiting[next] == 0)
                release(next);
    }
    return out;
}

}  // namespace

ExecutionGraph without_overlap(const ExecutionGraph& graph) {
    ExecutionGraph out = graph;
    std::map<const RankGraph*, std::shared_ptr<const RankGraph>> done;
    for (auto& rank : out.ranks) {
        auto& separated = done[rank.get()];
        if (!separated)
            separated = separate(*rank);
        rank = separated;
    }
    return out;
}

}  // namespace switchfold
