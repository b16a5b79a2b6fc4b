// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/collective.h"

#include "core/first_ranks.h"

#include <fmt/format.h>

namespace switchfold {

ExecutionGraph
single_collective(CollectiveKind kind, Bytes bytes, Datatype datatype, std::uint32_t ranks) {
    ExecutionGraph graph;
    graph.names = {fmt::format("{} {}", to_string(kind), to_string(bytes))};
    Group world{"world", first_ranks(ranks)};
    graph.groups = {world};
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {{StreamKind::kGpu, "0", 0}};
    CollectiveOperation collective;
    collective.kind = kind;
    collective.bytes = bytes;
    collective.datatype = datatype;
    collective.size_source = SizeSource::kUser;
    Operation operation;
    operation.body = collective;
    rank->operations = {operation};
    graph.ranks.assign(ranks, rank);
    graph.provenance.source = "collective";
    graph.provenance.traced_ranks = 0;
    graph.provenance.world_size = ranks;
    return graph;
}

double bus_factor(CollectiveKind kind, std::uint32_t ranks) {
    const double others = static_cast<double>(ranks - 1) / ranks;
    switch (kind) {
    case CollectiveKind::kAllReduce:
        return 2 * others;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
    case CollectiveKind::kMoeDispatch:
    case CollectiveKind::kMoeCombine:
        return others;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kSendReceive:
        break;
    }
    return 1;
}

}  // namespace switchfold
