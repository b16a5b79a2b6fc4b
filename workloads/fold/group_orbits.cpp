// SPDX-License-Identifier: Apache-2.0
#include "workloads/fold/group_orbits.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace switchfold {

namespace {

KernelOperation mark() {
    KernelOperation kernel;
    kernel.kernel_class = KernelClass::kOther;
    kernel.isolated = nanoseconds(1);
    kernel.byte_source = ByteSource::kShapes;
    kernel.duration_source = DurationSource::kModel;
    return kernel;
}

Operation operation_of(std::uint32_t name, const OperationBody& body) {
    Operation operation;
    operation.name = name;
    operation.body = body;
    return operation;
}

/// The first ranks, of whole machines if there are as many, that hold the first group and no part
/// of another.
std::uint32_t closed_ranks(
    const std::vector<std::vector<std::uint32_t>>& groups, std::uint32_t machine,
    std::uint32_t ranks) {
    std::uint32_t closed = groups.front().back() + 1;
    const auto whole_machines = [&] {
        closed = std::min(ranks, (closed + machine - 1) / machine * machine);
    };
    whole_machines();
    for (const std::vector<std::uint32_t>& group : groups) {
        if (group.front() >= closed)
            break;
        closed = std::max(closed, group.back() + 1);
        whole_machines();
    }
    return closed;
}

/// The least distance between members by which all groups can be moved onto themselves.
std::uint32_t
stride_of(const std::vector<std::vector<std::uint32_t>>& groups, std::uint32_t ranks) {
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<std::uint32_t> group_of(ranks, kNone);
    for (std::uint32_t group = 0; group < groups.size(); ++group)
        for (const std::uint32_t rank : groups[group])
            group_of[rank] = group;
    for (const std::uint32_t member : groups.front()) {
        const std::uint32_t by = member - groups.front().front();
        if (by == 0)
            continue;
        bool onto = true;
        for (std::uint32_t rank = 0; rank + by < ranks && onto; ++rank)
            onto = group_of[rank] == kNone || group_of[rank] == group_of[rank + by];
        if (onto)
            return by;
    }
    return ranks;
}

}  // namespace

GroupOrbit orbit_of_groups(
    std::vector<std::vector<std::uint32_t>> groups, std::uint32_t machine, std::uint32_t ranks) {
    std::sort(groups.begin(), groups.end());
    GroupOrbit orbit;
    orbit.ranks = closed_ranks(groups, machine, ranks);
    orbit.stride = stride_of(groups, ranks);
    orbit.apart = groups.front().front() / machine != groups.front().back() / machine;
    orbit.groups = std::move(groups);
    return orbit;
}

GroupOrbits::GroupOrbits(std::uint32_t machine, std::vector<std::uint32_t> ways) :
    machine_(machine), ways_(std::move(ways)) {}

std::uint32_t GroupOrbits::add(GroupOrbit orbit) {
    orbits_.push_back(std::move(orbit));
    return static_cast<std::uint32_t>(orbits_.size() - 1);
}

std::uint32_t GroupOrbits::machines_of(const std::vector<std::uint32_t>& ranks) const {
    std::uint32_t machines = 0;
    std::uint32_t last = UINT32_MAX;
    for (const std::uint32_t rank : ranks)
        machines += std::exchange(last, rank / machine_) != rank / machine_ ? 1 : 0;
    return machines;
}

std::uint32_t GroupOrbits::whole_ranks(std::uint32_t orbit, std::uint32_t above) const {
    const std::uint32_t unit = std::lcm(at(orbit).stride, machine_);
    return (above / unit + 1) * unit;
}

std::vector<bool> GroupOrbits::taking_part(const GroupOrbit& orbit, std::uint32_t ranks) const {
    std::vector<bool> part(orbit.groups.size(), !orbit.apart || ways_.empty());
    if (part.front())
        return part;
    using Way = std::pair<std::uint32_t, std::uint32_t>;
    std::map<Way, std::vector<std::size_t>> on_way;
    const auto ways_of = [&](std::size_t group, auto&& visit) {
        for (const std::uint32_t rank : orbit.groups[group])
            if (rank < ranks)
                visit(Way(rank / machine_, ways_[rank % machine_]));
    };
    for (std::size_t group = 0; group < orbit.groups.size(); ++group)
        ways_of(group, [&](const Way& way) { on_way[way].push_back(group); });
    std::vector<std::size_t> found{0};
    part.front() = true;
    for (std::size_t i = 0; i < found.size(); ++i)
        ways_of(found[i], [&](const Way& way) {
            for (const std::size_t group : on_way[way])
                if (!part[group]) {
                    part[group] = true;
                    found.push_back(group);
                }
        });
    return part;
}

ExecutionGraph GroupOrbits::probe(
    const CollectiveFamily& family, const std::vector<std::size_t>& which,
    std::uint32_t ranks) const {
    const GroupOrbit& orbit = at(family.orbit);
    ExecutionGraph graph;
    graph.names = {"mark", "collective"};
    graph.provenance.synthetic = true;
    graph.provenance.world_size = ranks;
    graph.ranks.assign(ranks, std::make_shared<const RankGraph>());
    const std::vector<bool> part = taking_part(orbit, ranks);
    for (std::size_t group = 0; group < orbit.groups.size(); ++group) {
        if (!part[group] || orbit.groups[group].front() >= ranks)
            continue;
        Group own{"probe", orbit.groups[group]};
        const std::size_t all = own.ranks.size();
        std::erase_if(own.ranks, [&](std::uint32_t other) { return other >= ranks; });
        RankGraph operations;
        operations.streams = {{StreamKind::kGpu, "compute", 0}};
        for (const std::size_t i : which) {
            operations.operations.push_back(operation_of(0, mark()));
            CollectiveOperation collective = family.operation;
            const CollectiveFamily::Call& call = family.calls[i];
            collective.bytes = Bytes(call.bytes.count() / all * own.ranks.size());
            collective.peers_late = call.peers_late;
            collective.group = static_cast<std::uint32_t>(graph.groups.size());
            collective.sequence = operations.operations.size() / 2;
            operations.operations.push_back(operation_of(1, collective));
        }
        operations.operations.push_back(operation_of(0, mark()));
        const auto shared = std::make_shared<const RankGraph>(std::move(operations));
        for (const std::uint32_t member : own.ranks)
            graph.ranks[member] = shared;
        graph.groups.push_back(std::move(own));
    }
    return graph;
}

}  // namespace switchfold
