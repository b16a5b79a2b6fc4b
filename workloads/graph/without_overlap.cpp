// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/without_overlap.h"

#include "sim/core/error.h"

#include <functional>
#include <map>
#include <queue>

namespace switchfold {

namespace {

bool is_gpu(const RankGraph& rank, const Operation& operation) {
    return rank.streams[operation.stream].kind == StreamKind::kGpu;
}

/// Messages are excluded: they wait for other ranks' work, so a collective that waited for one
/// could deadlock.
bool is_message(const Operation& operation) {
    return std::holds_alternative<SendOperation>(operation.body) ||
           std::holds_alternative<ReceiveOperation>(operation.body);
}

bool is_collective(const Operation& operation) {
    return std::holds_alternative<CollectiveOperation>(operation.body);
}

using LowestFirst = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;

/// A topological order of one rank that prefers work that needs no collective, and otherwise takes
/// the collective launched first. A step's GPU work waits for the collectives of all steps before
/// it, even without a known dependency.
class Order {
public:
    explicit Order(const RankGraph& rank) :
        rank_(rank), waiting_(rank.operations.size(), 0), successors_(rank.operations.size()) {
        std::vector<std::uint32_t> last_on_stream(rank.streams.size(), kNone);
        for (std::uint32_t i = 0; i < rank.operations.size(); ++i) {
            const Operation& operation = rank.operations[i];
            for (const std::uint32_t dependency : operation.dependencies)
                follow(dependency, i);
            std::uint32_t& last = last_on_stream[operation.stream];
            if (last != kNone)
                follow(last, i);
            last = i;
            if (is_collective(operation))
                ++unfinished_[operation.step];
        }
        for (std::uint32_t i = 0; i < rank.operations.size(); ++i)
            if (waiting_[i] == 0)
                release(i);
    }

    /// The next operation; kNone when all are taken.
    std::uint32_t next() {
        while (!plain_.empty()) {
            const std::uint32_t i = take(plain_);
            if (!is_gpu(rank_, rank_.operations[i]) || unfinished_.empty() ||
                rank_.operations[i].step <= unfinished_.begin()->first)
                return finish(i);
            later_.push(i);
        }
        if (!collectives_.empty()) {
            const std::uint32_t i = take(collectives_);
            const auto step = unfinished_.find(rank_.operations[i].step);
            if (--step->second == 0) {
                unfinished_.erase(step);
                std::swap(plain_, later_);
            }
            return finish(i);
        }
        // A collective waits for work of a later step: the steps cannot be kept apart.
        return later_.empty() ? kNone : finish(take(later_));
    }

    static constexpr std::uint32_t kNone = UINT32_MAX;

private:
    void follow(std::uint32_t before, std::uint32_t after) {
        successors_[before].push_back(after);
        ++waiting_[after];
    }
    void release(std::uint32_t i) {
        (is_collective(rank_.operations[i]) ? collectives_ : plain_).push(i);
    }
    static std::uint32_t take(LowestFirst& queue) {
        const std::uint32_t i = queue.top();
        queue.pop();
        return i;
    }
    std::uint32_t finish(std::uint32_t i) {
        for (const std::uint32_t next : successors_[i])
            if (--waiting_[next] == 0)
                release(next);
        return i;
    }

    const RankGraph& rank_;
    std::vector<std::uint32_t> waiting_;
    std::vector<std::vector<std::uint32_t>> successors_;
    std::map<std::uint32_t, std::uint32_t> unfinished_;  ///< number of collectives, by step
    LowestFirst plain_;
    LowestFirst collectives_;
    LowestFirst later_;  ///< work of steps that have not begun
};

std::shared_ptr<RankGraph> separate(const RankGraph& rank) {
    auto out = std::make_shared<RankGraph>();
    out->streams = rank.streams;
    Order order(rank);
    std::vector<std::uint32_t> new_index(rank.operations.size(), 0);
    std::uint32_t last_collective = Order::kNone;
    std::vector<std::uint32_t> waited_for(rank.streams.size(), Order::kNone);
    // The last GPU operation of each stream since the last collective: the next collective waits
    // for them.
    std::map<std::uint32_t, std::uint32_t> since;
    for (std::uint32_t old = order.next(); old != Order::kNone; old = order.next()) {
        Operation operation = rank.operations[old];
        const auto index = static_cast<std::uint32_t>(out->operations.size());
        for (std::uint32_t& dependency : operation.dependencies)
            dependency = new_index[dependency];
        if (is_gpu(rank, operation) && !is_message(operation)) {
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
        "{} of {} operations are in the serial order",
        out->operations.size(),
        rank.operations.size());
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
