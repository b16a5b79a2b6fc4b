// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/serial_order.h"

#include <variant>

namespace switchfold {

namespace {

/// Calls visit(before, after) for each dependency, and for each operation and the one before it on
/// its stream.
template <class Visit>
void for_each_edge(const RankGraph& rank, Visit visit) {
    std::vector<std::uint32_t> last_on_stream(rank.streams.size(), SerialOrder::kNone);
    for (std::uint32_t i = 0; i < rank.operations.size(); ++i) {
        const Operation& operation = rank.operations[i];
        for (const std::uint32_t dependency : operation.dependencies)
            visit(dependency, i);
        std::uint32_t& last = last_on_stream[operation.stream];
        if (last != SerialOrder::kNone)
            visit(last, i);
        last = i;
    }
}

std::uint32_t popped(auto& queue) {
    const std::uint32_t i = queue.top();
    queue.pop();
    return i;
}

}  // namespace

bool is_gpu(const RankGraph& rank, const Operation& operation) {
    return rank.streams[operation.stream].kind == StreamKind::kGpu;
}

bool is_collective(const Operation& operation) {
    return std::holds_alternative<CollectiveOperation>(operation.body) &&
           !is_held_message(operation);
}

bool is_held_message(const Operation& operation) {
    const auto* held = std::get_if<CollectiveOperation>(&operation.body);
    return held != nullptr && held->kind == CollectiveKind::kSendReceive && held->holds_blocks;
}

bool is_message(const Operation& operation) {
    return std::holds_alternative<SendOperation>(operation.body) ||
           std::holds_alternative<ReceiveOperation>(operation.body);
}

bool communicates(const Operation& operation) {
    return std::holds_alternative<CollectiveOperation>(operation.body) || is_message(operation);
}

SerialOrder::SerialOrder(const RankGraph& rank, bool messages_meet) :
    rank_(rank),
    messages_meet_(messages_meet),
    left_(rank.operations.size()),
    waiting_(rank.operations.size(), 0) {
    find_successors();
    for (const Operation& operation : rank.operations)
        if (is_collective(operation))
            ++unfinished_[operation.step];
    for (std::uint32_t i = 0; i < rank.operations.size(); ++i)
        if (waiting_[i] == 0)
            release(i);
}

void SerialOrder::find_successors() {
    first_successor_.assign(rank_.operations.size() + 1, 0);
    for_each_edge(rank_, [&](std::uint32_t before, std::uint32_t after) {
        ++first_successor_[before + 1];
        ++waiting_[after];
    });
    for (std::size_t i = 1; i < first_successor_.size(); ++i)
        first_successor_[i] += first_successor_[i - 1];
    successors_.resize(first_successor_.back());
    std::vector<std::uint32_t> next(first_successor_.begin(), first_successor_.end() - 1);
    for_each_edge(rank_, [&](std::uint32_t before, std::uint32_t after) {
        successors_[next[before]++] = after;
    });
}

bool SerialOrder::meets(std::uint32_t i) const {
    return messages_meet_ && is_message(rank_.operations[i]);
}

void SerialOrder::release(std::uint32_t i) {
    if (is_collective(rank_.operations[i]))
        offer(i);
    else
        own_.push(i);
}

void SerialOrder::offer(std::uint32_t i) {
    takeable_.insert(i);
    new_.push_back(i);
}

void SerialOrder::finish(std::uint32_t i) {
    --left_;
    for (std::uint32_t s = first_successor_[i]; s < first_successor_[i + 1]; ++s)
        if (--waiting_[successors_[s]] == 0)
            release(successors_[s]);
}

std::uint32_t SerialOrder::next_own() {
    while (!own_.empty()) {
        const std::uint32_t i = popped(own_);
        const Operation& operation = rank_.operations[i];
        if (is_gpu(rank_, operation) && !unfinished_.empty() &&
            operation.step > unfinished_.begin()->first) {
            later_.push(i);
        } else if (meets(i)) {
            offer(i);
        } else {
            finish(i);
            return i;
        }
    }
    return kNone;
}

std::uint32_t SerialOrder::next_of_later_step() {
    if (later_.empty())
        return kNone;
    const std::uint32_t i = popped(later_);
    if (meets(i)) {
        offer(i);
        return kNone;
    }
    finish(i);
    return i;
}

std::uint32_t SerialOrder::later_step() const {
    return later_.empty() ? kNone : rank_.operations[later_.top()].step;
}

void SerialOrder::take(std::uint32_t operation) {
    takeable_.erase(operation);
    if (is_collective(rank_.operations[operation])) {
        const auto step = unfinished_.find(rank_.operations[operation].step);
        if (--step->second == 0) {
            unfinished_.erase(step);
            for (; !later_.empty(); later_.pop())
                own_.push(later_.top());
        }
    }
    finish(operation);
}

}  // namespace switchfold
