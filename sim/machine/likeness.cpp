// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/likeness.h"

#include "sim/machine/system_queries.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace switchfold {

namespace {

template <class Topology>
std::string_view type_of(const Topology& topology) {
    if constexpr (std::is_same_v<Topology, ClusterTopology>)
        return std::visit([](const auto& machine) { return type_of(machine); }, *topology.node);
    else if constexpr (std::is_same_v<Topology, BoardsTopology>)
        return SwitchedTopology::kType;
    else
        return Topology::kType;
}

}  // namespace

std::string_view fabric_of(const SystemParams& system) {
    return std::visit([](const auto& topology) { return type_of(topology); }, *system.topology);
}

intervals::Likeness likeness_on(const SystemParams& system, std::string kind, std::uint32_t ranks) {
    intervals::Likeness like;
    like.kind = std::move(kind);
    like.generation = intervals::generation_of(system.gpu->name);
    like.fabric = fabric_of(system);
    like.ranks = ranks;
    like.machines = machines_of(ranks, std::max(1U, gpus_of_machine(system)));
    return like;
}

}  // namespace switchfold
