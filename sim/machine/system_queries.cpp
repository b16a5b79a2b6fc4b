// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/system_queries.h"

#include "core/first_ranks.h"
#include "interconnect/reduction_tree.h"
#include "models/collectives/choice/machine_view.h"
#include "models/collectives/library.h"
#include "sim/config/rank_gpus.h"

#include <fmt/format.h>

#include <algorithm>
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

bool own_ways_out(const SystemParams& system) {
    const MachineView view = whole(system);
    return view.machines > 1 && view.rails >= view.per_machine;
}

bool can_reduce_in_switch(const SystemParams& system, std::uint32_t ranks) {
    std::vector<std::uint32_t> members = first_ranks(ranks);
    return why_no_reduction(build_topology(system.topology), members).empty();
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
