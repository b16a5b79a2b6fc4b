// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/system_queries.h"

#include "core/first_ranks.h"
#include "interconnect/adjacency.h"
#include "interconnect/reduction_tree.h"
#include "models/collectives/choice/machine_view.h"
#include "models/collectives/library.h"
#include "sim/config/rank_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace switchfold {

std::uint32_t gpus_of(const SystemParams& system) {
    return build_topology(system.topology).gpus();
}

std::uint32_t fewest_sms(const SystemParams& system, std::uint32_t ranks) {
    const RankGpus gpus(system);
    std::uint32_t fewest = UINT32_MAX;
    for (const std::uint32_t kind : gpus.used(ranks))
        fewest = std::min(fewest, gpus.kinds()[kind]->sms);
    return fewest;
}

Bytes least_shared_memory(const SystemParams& system, std::uint32_t ranks) {
    const RankGpus gpus(system);
    Bytes least = Bytes(UINT64_MAX);
    for (const std::uint32_t kind : gpus.used(ranks))
        least = std::min(least, gpus.kinds()[kind]->sm.shared_memory);
    return least;
}

std::string gpu_names(const SystemParams& system) {
    const RankGpus gpus(system);
    std::vector<std::uint32_t> counts(gpus.kinds().size(), 0);
    const std::uint32_t all = gpus_of(system);
    for (std::uint32_t rank = 0; rank < all; ++rank)
        ++counts[gpus.kind(rank)];
    std::string text;
    for (std::size_t kind = 0; kind < counts.size(); ++kind)
        if (counts[kind] > 0)
            text += fmt::format(
                "{}{} x {}", text.empty() ? "" : ", ", counts[kind], gpus.kinds()[kind]->name);
    return text;
}

std::uint32_t gpus_of_machine(const SystemParams& system) {
    const Topology topology = build_topology(system.topology);
    return topology.gpus() / std::max(1U, topology.machines());
}

namespace {

/// All GPUs of a system as one group.
MachineView whole(const SystemParams& system) {
    const Topology topology = build_topology(system.topology);
    std::vector<std::uint32_t> ranks = first_ranks(topology.gpus());
    return view_group(topology, system.collectives->transfer_unit, ranks).machine;
}

}  // namespace

Bandwidth bandwidth_between(const SystemParams& system) {
    const MachineView view = whole(system);
    return view.machines > 1 ? view.rail_bandwidth : view.pair_bandwidth;
}

namespace {

/// The network interfaces that are nearest to a GPU over PCIe.
std::set<std::uint32_t>
nearest_nics(const Topology& topology, const Adjacency& neighbours, std::uint32_t gpu) {
    std::set<std::uint32_t> nics;
    std::set<std::uint32_t> seen{gpu};
    std::vector<std::uint32_t> reached{gpu};
    while (!reached.empty() && nics.empty()) {
        std::vector<std::uint32_t> next;
        for (const std::uint32_t from : reached)
            for (const Neighbour& to : neighbours[from]) {
                const NodeKind kind = topology.nodes[to.node].kind;
                if (kind == NodeKind::kNic)
                    nics.insert(to.node);
                else if (is_pcie(kind) && seen.insert(to.node).second)
                    next.push_back(to.node);
            }
        reached = std::move(next);
    }
    return nics;
}

}  // namespace

std::vector<std::uint32_t> ways_out(const SystemParams& system) {
    const MachineView view = whole(system);
    if (view.machines < 2)
        return {};
    std::vector<std::uint32_t> ways(view.per_machine);
    std::iota(ways.begin(), ways.end(), 0U);
    if (view.rails >= view.per_machine)
        return ways;
    const Topology topology = build_topology(system.topology);
    const Adjacency neighbours = adjacency_of(topology);
    std::vector<std::set<std::uint32_t>> nics;
    for (std::uint32_t gpu = 0; gpu < ways.size(); ++gpu) {
        nics.push_back(nearest_nics(topology, neighbours, gpu));
        // Over PCIe alone, what GPUs of a machine send each other takes the same links.
        const bool own_links = std::ranges::any_of(neighbours[gpu], [&](const Neighbour& to) {
            const NodeKind kind = topology.nodes[to.node].kind;
            return kind == NodeKind::kSwitch || kind == NodeKind::kGpu;
        });
        if (nics.back().empty() || !own_links)
            return {};
        for (std::uint32_t other = 0; other < gpu; ++other)
            if (std::ranges::any_of(
                    nics[gpu], [&](std::uint32_t nic) { return nics[other].contains(nic); }))
                std::ranges::replace(ways, ways[gpu], ways[other]);
    }
    return ways;
}

bool can_reduce_in_switch(const SystemParams& system, std::uint32_t ranks) {
    std::vector<std::uint32_t> members = first_ranks(ranks);
    return why_no_reduction(build_topology(system.topology), members).empty();
}

bool admits_groups(const Topology& topology, std::size_t groups) {
    return std::ranges::all_of(topology.switches, [&](const SwitchParams& node) {
        return !node.reduction ||
               (node.reduction->when_full != WhenFull::kRefuse && !node.reduction->tenants &&
                node.reduction->max_groups >= groups);
    });
}

std::string why_refused(
    const SystemParams& system, const CollectivePolicy& policy, const CollectiveCall& call,
    std::uint32_t gpus) {
    std::vector<std::uint32_t> ranks = first_ranks(gpus);
    const CollectiveParams& params = *system.collectives;
    const Topology topology = build_topology(system.topology);
    const CallGroup group(topology, ranks, params.transfer_unit);
    return library_for(call.kind, policy).refuses(params, policy, call, group).why;
}

}  // namespace switchfold
