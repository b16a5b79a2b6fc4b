// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/slow_ranks.h"

#include "core/error.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <variant>

namespace switchfold {

namespace {

void stretch(RankGraph& rank, double factor) {
    for (Operation& operation : rank.operations)
        if (auto* kernel = std::get_if<KernelOperation>(&operation.body))
            kernel->isolated = Time(static_cast<std::uint64_t>(
                std::llround(static_cast<double>(kernel->isolated.count()) * factor)));
}

void delay(RankGraph& rank, Time by) {
    std::vector<std::optional<std::uint32_t>> last(rank.streams.size());  // step, by stream
    for (Operation& operation : rank.operations) {
        const std::uint32_t step = operation.step;
        const bool follows =
            last[operation.stream] == step ||
            std::any_of(
                operation.dependencies.begin(), operation.dependencies.end(),
                [&](std::uint32_t before) { return rank.operations[before].step == step; });
        last[operation.stream] = step;
        if (!follows)
            operation.gap += by;
    }
}

}  // namespace

void slow_down(ExecutionGraph& graph, const std::vector<SlowRank>& slow) {
    for (const SlowRank& one : slow) {
        SWITCHFOLD_CHECK(one.rank < graph.ranks.size(), "rank {} is not there", one.rank);
        auto changed = std::make_shared<RankGraph>(*graph.ranks[one.rank]);
        if (one.compute != 1)
            stretch(*changed, one.compute);
        if (one.delay > Time())
            delay(*changed, one.delay);
        graph.ranks[one.rank] = std::move(changed);
    }
}

}  // namespace switchfold
