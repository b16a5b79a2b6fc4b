// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/loops.h"

#include "core/first_ranks.h"

#include <algorithm>
#include <memory>

namespace switchfold {

namespace {

std::shared_ptr<const RankGraph> rank_of(const Loops& loops, const KernelOperation& kernel) {
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {{StreamKind::kGpu, "kernels", 0}, {StreamKind::kGpu, "collectives", 0}};
    const auto add = [&](std::uint32_t stream, const OperationBody& body) {
        Operation operation;
        operation.name = operation.stream = stream;
        operation.body = body;
        rank->operations.push_back(operation);
    };
    for (std::uint32_t i = 0; i < std::max(loops.kernels, loops.collectives); ++i) {
        if (i < loops.collectives) {
            CollectiveOperation collective = loops.collective;
            collective.sequence = i;
            add(1, collective);
        }
        if (i < loops.kernels)
            add(0, kernel);
    }
    return rank;
}

}  // namespace

ExecutionGraph loops_graph(const Loops& loops) {
    ExecutionGraph graph;
    graph.names = {loops.kernel_name, loops.collective_name};
    Group world{"world", first_ranks(static_cast<std::uint32_t>(loops.kernel.size()))};
    graph.groups = {world};
    for (std::size_t rank = 0; rank < loops.kernel.size(); ++rank) {
        const auto same = std::find(loops.kernel.begin(), loops.kernel.end(), loops.kernel[rank]) -
                          loops.kernel.begin();
        graph.ranks.push_back(
            static_cast<std::size_t>(same) < rank ? graph.ranks[static_cast<std::size_t>(same)]
                                                  : rank_of(loops, loops.kernel[rank]));
    }
    graph.provenance.world_size = static_cast<std::uint32_t>(loops.kernel.size());
    return graph;
}

}  // namespace switchfold
