// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/routing.h"
#include "sim/workload/buffer_check.h"
#include "sim/workload/expert_splits.h"
#include "sim/workload/experts_workload.h"
#include "sim/workload/read_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace switchfold {

namespace {

constexpr std::uint64_t kMostChoices = 1ULL << 26U;

ExpertExchange exchange_by_tokens(
    const ExpertsWorkloadParams& w, const WorkloadContext& context, std::uint32_t ranks) {
    if (std::uint64_t{*w.tokens} * w.top_k * ranks > kMostChoices)
        context.fail(
            "/workload/tokens",
            fmt::format(
                "is {}: with top_k {} and {} ranks more than {} choices of experts; expected "
                "fewer tokens",
                *w.tokens, w.top_k, ranks, kMostChoices));
    return exchange_of(w, context.experiment().seed);
}

ExpertExchange exchange_by_splits(
    const ExpertsWorkloadParams& w, const WorkloadContext& context, std::uint32_t ranks,
    PreparedWorkload& out) {
    ExpertExchange exchange = exchange_of(w, context.experiment().seed);
    exchange.splits = read_splits(w, context, ranks, out.report.notes);
    const std::uint64_t choices =
        std::accumulate(exchange.splits.begin(), exchange.splits.end(), std::uint64_t{0});
    if (choices == 0 || choices > kMostChoices)
        context.fail(
            "/workload/splits",
            fmt::format(
                "has {} rows in all; expected at least one and at most {}", choices, kMostChoices));
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        exchange.tokens = std::max(exchange.tokens, token_counts(exchange, ranks, rank).tokens);
    return exchange;
}

}  // namespace

void read(const ExpertsWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out) {
    const SystemParams& system = context.system();
    const std::uint32_t ranks = context.ranks_of(w.ranks);
    if (ranks < 2)
        context.fail("/workload/ranks", "is 1, and nothing is exchanged; expected at least 2");
    if (w.experts % ranks != 0)
        context.fail(
            "/workload/experts",
            fmt::format(
                "is {}, which {} ranks cannot share evenly; expected a multiple of {}", w.experts,
                ranks, ranks));
    const ExpertExchange exchange = w.splits ? exchange_by_splits(w, context, ranks, out)
                                             : exchange_by_tokens(w, context, ranks);
    const Topology topology = build_topology(system.topology);
    const ExpertsMachine machine = experts_machine(system, topology, ranks);
    const auto& scenarios = context.scenarios();
    for (const std::size_t i : context.variant_scenarios()) {
        const ExpertsCall experts{exchange, scenarios[i].collectives.experts, machine};
        const Refusal refusal = refused_exchange(system, topology, experts);
        if (!refusal)
            continue;
        context.fail(
            fmt::format("/scenarios/{}/collectives/experts/{}", i, refusal.field),
            refusal.value.empty()
                ? refusal.why
                : fmt::format(
                      "is {}, which {} cannot run: {}", refusal.value, system.name, refusal.why));
    }
    out.graph = experts_step(w.operation, exchange, ranks);
    out.report.type = "experts";
    out.report.source = out.graph.names.front();
    const BufferCheck buffers =
        w.splits ? BufferCheck{.pointer = "/workload/splits", .size = "of this many tokens"}
                 : BufferCheck{.pointer = "/workload/tokens", .size = std::to_string(*w.tokens)};
    check_buffers(buffers, context, out);
    context.place(out.graph);
}

}  // namespace switchfold
