// SPDX-License-Identifier: Apache-2.0
#include "sim/run/machine/folded_rings.h"

#include "models/collectives/choice/group_layout.h"

#include <algorithm>
#include <numeric>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

constexpr std::size_t kFewestRanks = 32;

bool all_alike(const ExecutionGraph& graph) {
    return std::all_of(graph.ranks.begin(), graph.ranks.end(), [&](const auto& rank) {
        return rank == graph.ranks.front();
    });
}

bool covers_all(const Group& group, std::size_t ranks) {
    return group.stands_for == 0 && group.ranks.size() == ranks && group.ranks.back() == ranks - 1;
}

/// Whether it needs nothing but its rank's GPU, and rings over all ranks.
class RingsOnly {
public:
    RingsOnly(const ExecutionGraph& graph, const CollectivePolicies& policies) :
        graph_(graph), policies_(policies) {}
    [[nodiscard]] bool operator()(const Operation& operation) const {
        return std::visit([this](const auto& body) { return fits(body); }, operation.body);
    }

private:
    [[nodiscard]] bool fits(const CollectiveOperation& collective) const {
        switch (collective.kind) {
        case CollectiveKind::kAllReduce:
        case CollectiveKind::kReduceScatter:
        case CollectiveKind::kAllGather:
            break;
        default:
            return false;
        }
        const CollectivePolicy policy = policies_.of(collective.kind);
        return policy.algorithm == Algorithm::kRing && policy.kernels == Kernels::kClassic &&
               covers_all(graph_.groups[collective.group], graph_.ranks.size());
    }
    [[nodiscard]] static bool fits(const KernelOperation& /*kernel*/) { return true; }
    [[nodiscard]] static bool fits(const HostDelayOperation& /*delay*/) { return true; }
    // Copies share links to the host, and transfers have two ends that differ.
    [[nodiscard]] static bool fits(const CopyOperation& /*copy*/) { return false; }
    [[nodiscard]] static bool fits(const SendOperation& /*send*/) { return false; }
    [[nodiscard]] static bool fits(const ReceiveOperation& /*receive*/) { return false; }

    const ExecutionGraph& graph_;
    const CollectivePolicies& policies_;
};

}  // namespace

std::optional<RingFold> fold_of(
    const SystemParams& system, const ExecutionGraph& graph, const CollectivePolicies& policies) {
    if (graph.ranks.size() < kFewestRanks || !system.faults.empty() || !system.gpus.empty() ||
        !all_alike(graph))
        return std::nullopt;
    const auto& operations = graph.ranks.front()->operations;
    if (!std::all_of(operations.begin(), operations.end(), RingsOnly(graph, policies)))
        return std::nullopt;
    const Topology topology = build_topology(system.topology);
    std::vector<std::uint32_t> ranks(graph.ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    return fold_rings(topology, ring_orders(topology, ranks, lay_out(topology, ranks)));
}

ExecutionGraph folded_graph(const ExecutionGraph& graph, const RingFold& fold) {
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
