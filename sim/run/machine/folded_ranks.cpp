// SPDX-License-Identifier: Apache-2.0
#include "sim/run/machine/folded_ranks.h"

#include "models/collectives/choice/block_limit.h"
#include "models/collectives/choice/group_layout.h"
#include "models/collectives/choice/kernels.h"
#include "models/collectives/choice/machine_view.h"
#include "models/collectives/in_switch/in_switch_steps.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

constexpr std::size_t kFewestRanks = 32;
/// The last loop's pieces of an in-switch all-reduce are not equal: enough loops make that small.
constexpr std::uint64_t kFewestLoops = 8;

bool all_alike(const ExecutionGraph& graph) {
    return std::all_of(graph.ranks.begin(), graph.ranks.end(), [&](const auto& rank) {
        return rank == graph.ranks.front();
    });
}

bool covers_all(const Group& group, std::size_t ranks) {
    return group.stands_for == 0 && group.ranks.size() == ranks && group.ranks.back() == ranks - 1;
}

/// Whether every operation needs nothing but its rank's GPU, or is a collective over all ranks that
/// `fits`.
template <class Fits>
bool all_fit(const ExecutionGraph& graph, const Fits& fits) {
    const auto& operations = graph.ranks.front()->operations;
    return std::all_of(operations.begin(), operations.end(), [&](const Operation& operation) {
        if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body))
            return covers_all(graph.groups[collective->group], graph.ranks.size()) &&
                   fits(*collective);
        // Copies share links to the host, and transfers have two ends that differ.
        return std::holds_alternative<KernelOperation>(operation.body) ||
               std::holds_alternative<HostDelayOperation>(operation.body);
    });
}

bool runs_as(
    const CollectivePolicies& policies,
    const CollectiveOperation& collective,
    Algorithm algorithm) {
    const CollectivePolicy policy = policies.of(collective.kind);
    return policy.algorithm == algorithm && policy.kernels == Kernels::kClassic;
}

bool only_rings(const ExecutionGraph& graph, const CollectivePolicies& policies) {
    return all_fit(graph, [&](const CollectiveOperation& collective) {
        switch (collective.kind) {
        case CollectiveKind::kAllReduce:
        case CollectiveKind::kReduceScatter:
        case CollectiveKind::kAllGather:
            return runs_as(policies, collective, Algorithm::kRing);
        default:
            return false;
        }
    });
}

/// Whether a switch takes every group, so that none falls back to a ring: collectives of one stream
/// follow each other, each has two groups, and they may still be held when the next begins.
bool admits_all(const Topology& topology, const ExecutionGraph& graph) {
    constexpr std::uint32_t kAtOnce = 4;
    std::set<std::uint32_t> streams;
    for (const Operation& operation : graph.ranks.front()->operations)
        if (std::holds_alternative<CollectiveOperation>(operation.body))
            streams.insert(operation.stream);
    return streams.size() <= 1 &&
           std::all_of(
               topology.switches.begin(), topology.switches.end(), [](const SwitchParams& node) {
                   return !node.reduction || (node.reduction->when_full != WhenFull::kRefuse &&
                                              node.reduction->max_groups >= kAtOnce);
               });
}

/// Whether all collectives are all-reduces through the switches, each of enough loops.
bool only_long_pulls(
    const SystemParams& system,
    const Topology& topology,
    const ExecutionGraph& graph,
    const CollectivePolicies& policies) {
    const CollectivePolicy& policy = policies.of(CollectiveKind::kAllReduce);
    if (!all_fit(graph, [&](const CollectiveOperation& collective) {
            return collective.kind == CollectiveKind::kAllReduce &&
                   policy.mode == InSwitchMode::kPull && reducible_in_switch(collective.datatype) &&
                   runs_as(policies, collective, Algorithm::kInSwitch);
        }))
        return false;
    std::vector<std::uint32_t> ranks(graph.ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    const CollectiveParams params = limited(*system.collectives, policies.most_blocks);
    const MachineView view = view_group(topology, params.transfer_unit, ranks).machine;
    return all_fit(graph, [&](const CollectiveOperation& collective) {
        const Choice choice = choose_by_kernels(
            params, policy, view, {collective.kind, collective.bytes, collective.datatype});
        const InSwitchShape shape = in_switch_shape(
            params,
            view.ranks,
            limited(choice, view.ranks, policies.most_blocks).channels,
            collective.bytes.count(),
            choice.registered);
        // The few blocks of registered buffers are out of step with each other.
        return !choice.registered && shape.pieces.loops(0) >= kFewestLoops;
    });
}

}  // namespace

std::optional<RankFold> fold_of(
    const SystemParams& system, const ExecutionGraph& graph, const CollectivePolicies& policies) {
    if (graph.ranks.size() < kFewestRanks || !system.faults.empty() || !system.gpus.empty() ||
        !all_alike(graph))
        return std::nullopt;
    const bool rings = only_rings(graph, policies);
    const Topology topology = build_topology(system.topology);
    const auto count = static_cast<std::uint32_t>(graph.ranks.size());
    if (rings) {
        std::vector<std::uint32_t> ranks(count);
        std::iota(ranks.begin(), ranks.end(), 0U);
        return fold_rings(topology, ring_orders(topology, ranks, lay_out(topology, ranks)));
    }
    if (!admits_all(topology, graph) || !only_long_pulls(system, topology, graph, policies))
        return std::nullopt;
    return fold_domain(topology, count);
}

ExecutionGraph folded_graph(const ExecutionGraph& graph, const RankFold& fold) {
    ExecutionGraph kept = graph;
    kept.ranks.resize(fold.kept);
    for (Group& group : kept.groups)
        if (covers_all(group, fold.ranks)) {
            group.ranks.resize(fold.kept);
            group.stands_for = fold.ranks;
        }
    return kept;
}

}  // namespace switchfold
