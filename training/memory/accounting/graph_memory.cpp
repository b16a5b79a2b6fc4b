// SPDX-License-Identifier: Apache-2.0
#include "training/memory/accounting/graph_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

/// Sum of the shortest sequence whose repetition is the whole.
std::uint64_t sum_of_period(const std::vector<std::uint64_t>& sizes) {
    const auto repeats = [&](std::size_t period) {
        if (sizes.size() % period != 0)
            return false;
        for (std::size_t i = period; i < sizes.size(); ++i)
            if (sizes[i] != sizes[i - period])
                return false;
        return true;
    };
    std::size_t period = 1;
    while (period < sizes.size() && !repeats(period))
        ++period;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < std::min(period, sizes.size()); ++i)
        sum += sizes[i];
    return sum;
}

class LeastOfRank {
public:
    LeastOfRank(const ExecutionGraph& graph, const RankGraph& rank) : graph_(graph), rank_(rank) {}

    LeastMemory find() {
        for (const Operation& operation : rank_.operations)
            if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body))
                if (operation.phase == Phase::kForward)
                    of_activations_.insert(collective->group);
        for (const Operation& operation : rank_.operations) {
            if (operation.step != step_) {
                gradients_.clear();
                step_ = operation.step;
            }
            std::visit([&](const auto& body) { take(operation, body); }, operation.body);
        }
        return least_;
    }

private:
    template <class... Values>
    void need(std::uint64_t bytes, fmt::format_string<Values...> what, Values&&... values) {
        if (bytes > least_.bytes)
            least_ = {bytes, fmt::format(what, std::forward<Values>(values)...)};
    }
    [[nodiscard]] const std::string& name(const Operation& operation) const {
        return graph_.names[operation.name];
    }

    void take(const Operation& operation, const CollectiveOperation& collective) {
        need(
            collective_buffers(graph_, collective, true), "the buffers of one {}",
            to_string(collective.kind));
        if (collective.kind == CollectiveKind::kAllReduce && operation.phase == Phase::kBackward &&
            !of_activations_.contains(collective.group))
            gradients_.push_back(collective.bytes.count());
    }
    void take(const Operation& operation, const KernelOperation& kernel) {
        if (operation.phase == Phase::kOptimizer && !gradients_.empty()) {
            const std::uint64_t sum = sum_of_period(gradients_);
            if (gradients_.size() > 1)
                need(sum, "gradients that one step all-reduces");
            gradients_.clear();
        }
        if (kernel.byte_source == ByteSource::kShapes)
            need(
                (kernel.bytes_read + kernel.bytes_written).count(), "the operands of kernel {}",
                name(operation));
    }
    void take(const Operation& /*operation*/, const SendOperation& message) {
        need(message.bytes.count(), "a message that is sent");
    }
    void take(const Operation& /*operation*/, const ReceiveOperation& message) {
        need(message.bytes.count(), "a message that is received");
    }
    void take(const Operation& /*operation*/, const CopyOperation& copy) {
        need(copy.bytes.count(), "what one copy moves");
    }
    void take(const Operation& /*operation*/, const HostDelayOperation& /*delay*/) {}

    const ExecutionGraph& graph_;
    const RankGraph& rank_;
    std::set<std::uint32_t> of_activations_;  ///< groups
    std::vector<std::uint64_t> gradients_;    ///< sizes of the step's all-reduces so far
    std::uint32_t step_ = 0;
    LeastMemory least_;
};

}  // namespace

std::uint64_t collective_buffers(
    const ExecutionGraph& graph, const CollectiveOperation& collective, bool in_place) {
    const std::uint64_t bytes = collective.bytes.count();
    const std::uint64_t part = bytes / graph.groups[collective.group].ranks.size();
    switch (collective.kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
        return in_place ? bytes : 2 * bytes;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
        return in_place ? bytes : bytes + part;
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kSendReceive:
        return collective.exchange == 0 ? 2 * bytes : bytes;  // unequal parts: what it sends
    case CollectiveKind::kMoeDispatch:
    case CollectiveKind::kMoeCombine: {
        const ExpertExchange& exchange = graph.experts[collective.experts];
        const ExpertPayload payload = collective.kind == CollectiveKind::kMoeDispatch
                                          ? exchange.payload
                                          : ExpertPayload::kBfloat16;
        // A rank receives as many tokens as it has, if each goes to one other alone.
        return 2 * exchange.tokens * token_bytes(payload, exchange.hidden).all();
    }
    }
    return bytes;
}

LeastMemory least_memory(const ExecutionGraph& graph, const RankGraph& rank) {
    return LeastOfRank(graph, rank).find();
}

LeastMemory with_allocations(LeastMemory least, const TraceFileReport& file) {
    if (file.peak_allocated > least.bytes)
        return {file.peak_allocated, "what the allocator had handed out at its peak"};
    return least;
}

}  // namespace switchfold
