// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/experts/experts_workload.h"

#include "core/first_ranks.h"
#include "interconnect/reduction_tree.h"
#include "models/collectives/choice/group_layout.h"
#include "models/collectives/experts/routing.h"
#include "models/collectives/library.h"
#include "sim/machine/system_queries.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

namespace switchfold {

ExpertExchange exchange_of(const ExpertsWorkloadParams& workload, std::uint64_t seed) {
    ExpertExchange exchange;
    exchange.tokens = workload.tokens.value_or(0);
    exchange.hidden = workload.hidden;
    exchange.top_k = workload.top_k;
    exchange.experts = workload.experts;
    exchange.payload = workload.payload;
    exchange.routing = workload.routing;
    exchange.skew = workload.skew;
    exchange.seed = seed;
    return exchange;
}

ExecutionGraph
experts_step(ExpertsOperation operation, const ExpertExchange& exchange, std::uint32_t ranks) {
    ExecutionGraph graph;
    graph.groups = {{"world", first_ranks(ranks)}};
    graph.experts = {exchange};
    const std::uint64_t copies = Routing(exchange, ranks).busiest();
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {{StreamKind::kGpu, "0", 0}};
    const auto add = [&](CollectiveKind kind, ExpertPayload payload) {
        CollectiveOperation collective;
        collective.kind = kind;
        collective.bytes = Bytes(copies * token_bytes(payload, exchange.hidden).all());
        collective.sequence = rank->operations.size();
        collective.size_source = SizeSource::kUser;
        Operation one;
        one.name = static_cast<std::uint32_t>(graph.names.size());
        one.body = collective;
        rank->operations.push_back(one);
        graph.names.push_back(fmt::format("{} {}", to_string(kind), to_string(collective.bytes)));
    };
    if (operation != ExpertsOperation::kCombine)
        add(CollectiveKind::kMoeDispatch, exchange.payload);
    if (operation != ExpertsOperation::kDispatch)
        add(CollectiveKind::kMoeCombine, ExpertPayload::kBfloat16);
    graph.ranks.assign(ranks, rank);
    graph.provenance.source = "experts";
    graph.provenance.world_size = ranks;
    return graph;
}

ExpertsMachine
experts_machine(const SystemParams& system, const Topology& topology, std::uint32_t ranks) {
    const std::vector<std::uint32_t> all = first_ranks(ranks);
    ExpertsMachine machine;
    machine.ranks = ranks;
    machine.machines = static_cast<std::uint32_t>(lay_out(topology, all).machines.size());
    machine.sms = fewest_sms(system, ranks);
    machine.shared_memory = least_shared_memory(system, ranks);
    machine.multicast = why_no_reduction(topology, all).empty();
    return machine;
}

Refusal refused_exchange(
    const SystemParams& system, const Topology& topology, const ExpertsCall& exchange) {
    CollectiveCall call{CollectiveKind::kMoeDispatch, Bytes(0)};
    call.experts = &exchange;
    const std::vector<std::uint32_t> ranks = first_ranks(exchange.machine.ranks);
    const CollectiveParams& params = *system.collectives;
    return library_for(call.kind, {})
        .refuses(params, {}, call, CallGroup(topology, ranks, params.transfer_unit));
}

}  // namespace switchfold
