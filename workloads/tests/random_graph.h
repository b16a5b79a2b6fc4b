// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <rapidcheck.h>

namespace switchfold::test_data {

/// A legal rank of up to 40 operations on five streams: the host, two for compute, and two that
/// carry collectives. Steps ascend.
inline RankGraph random_rank() {
    RankGraph rank;
    rank.streams = {
        {StreamKind::kHost, "host", 0},
        {StreamKind::kGpu, "7", 0},
        {StreamKind::kGpu, "8", 0},
        {StreamKind::kGpu, "20", 0},
        {StreamKind::kGpu, "21", 0}};
    const auto count = *rc::gen::inRange<std::uint32_t>(0, 40);
    std::uint32_t step = 0;
    std::uint64_t sequence = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        Operation operation;
        operation.stream = *rc::gen::inRange<std::uint32_t>(0, 5);
        step += *rc::gen::inRange<std::uint32_t>(0, 12) == 0 ? 1 : 0;
        operation.step = step;
        operation.gap = nanoseconds(*rc::gen::inRange<std::uint64_t>(0, 3));
        const Time duration = nanoseconds(*rc::gen::inRange<std::uint64_t>(0, 20));
        if (operation.stream == 0) {
            operation.body = HostDelayOperation{duration, *rc::gen::arbitrary<bool>()};
        } else if (operation.stream >= 3) {
            CollectiveOperation collective;
            collective.measured = duration;
            collective.sequence = sequence++;
            collective.peers_late = Time(*rc::gen::inRange<std::uint64_t>(0, 3));
            collective.given = Time(*rc::gen::inRange<std::uint64_t>(0, 3));
            collective.holds_blocks = collective.given != Time() && *rc::gen::arbitrary<bool>();
            operation.body = collective;
        } else {
            KernelOperation kernel;
            kernel.measured = kernel.isolated = duration;
            kernel.inside_cuda_graph = *rc::gen::arbitrary<bool>();
            operation.body = kernel;
        }
        const auto dependencies = i == 0 ? 0U : *rc::gen::inRange<std::uint32_t>(0, 3);
        for (std::uint32_t d = 0; d < dependencies; ++d)
            operation.dependencies.push_back(*rc::gen::inRange<std::uint32_t>(0, i));
        operation.name = i;  // identifies the operation in the result
        rank.operations.push_back(std::move(operation));
    }
    return rank;
}

inline ExecutionGraph graph_of(RankGraph rank) {
    ExecutionGraph graph;
    for (std::size_t i = 0; i < rank.operations.size(); ++i)
        graph.names.push_back(std::to_string(i));
    graph.groups = {{"world", {0}}};
    graph.ranks = {std::make_shared<RankGraph>(std::move(rank))};
    return graph;
}

}  // namespace switchfold::test_data
