// SPDX-License-Identifier: Apache-2.0
#include "training/plan/fold/folded_collectives.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace switchfold {

namespace {

constexpr std::array kMembers{FoldedGroup::kTensor,        FoldedGroup::kContext,
                              FoldedGroup::kExpert,        FoldedGroup::kExpertNode,
                              FoldedGroup::kExpertRail,    FoldedGroup::kReplicas,
                              FoldedGroup::kExpertReplicas};

bool replicates(MembersOn on) {
    return on.members == FoldedGroup::kReplicas || on.members == FoldedGroup::kExpertReplicas;
}

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

}  // namespace

FoldedGroups::FoldedGroups(
    const ParallelPlan& plan, std::uint32_t machine, std::vector<std::uint32_t> ways) :
    plan_(plan), map_(plan_), machine_(machine), ways_(std::move(ways)) {}

std::vector<std::uint32_t> FoldedGroups::group(MembersOn on, std::uint32_t rank) const {
    const RankPlace own = map_.place(rank);
    const FoldedGroup members = on.members;
    std::vector<std::uint32_t> ranks;
    const auto add = [&](const RankPlace& place) { ranks.push_back(map_.rank(place)); };
    RankPlace place = own;
    switch (members) {
    case FoldedGroup::kTensor:
        for (place.tensor = 0; place.tensor < plan_.tensor; ++place.tensor)
            add(place);
        break;
    case FoldedGroup::kContext:
        for (place.context = 0; place.context < plan_.context; ++place.context)
            add(place);
        break;
    case FoldedGroup::kExpert:
        for (std::uint32_t i = 0; i < plan_.expert; ++i) {
            place.data = own.data / plan_.expert * plan_.expert + i;
            add(place);
        }
        break;
    case FoldedGroup::kExpertNode:
        return map_.sharing(Sharing::kExpertNode, rank);
    case FoldedGroup::kExpertRail:
        return map_.sharing(Sharing::kExpertRail, rank);
    case FoldedGroup::kReplicas:
    case FoldedGroup::kExpertReplicas:
        place.device = own.device / on.devices * on.devices;
        for (std::uint32_t d = 0; d < on.devices; ++d, ++place.device)
            for (place.data = 0; place.data < plan_.data; ++place.data)
                for (place.context = 0; place.context < plan_.context; ++place.context)
                    if (members == FoldedGroup::kReplicas ||
                        place.data % plan_.expert == own.data % plan_.expert)
                        add(place);
        break;
    }
    return ranks;
}

std::optional<MembersOn> FoldedGroups::members_of(const std::vector<std::uint32_t>& ranks) const {
    // As if they lay on the first devices, side by side.
    std::vector<std::uint32_t> first;
    std::uint32_t devices = 0;
    std::uint32_t last = 0;
    for (const std::uint32_t rank : ranks) {
        const std::uint32_t device = rank / of_device();
        devices += devices == 0 || device != last ? 1 : 0;
        last = device;
        first.push_back(rank % of_device() + (devices - 1) * of_device());
    }
    for (const FoldedGroup members : kMembers)
        if (const MembersOn on(members, devices);
            (devices == 1 || replicates(on)) && first.size() > devices && group(on, 0) == first)
            return on;
    return {};
}

std::vector<std::uint32_t> FoldedGroups::firsts_of(const std::vector<std::uint32_t>& ranks) const {
    std::vector<std::uint32_t> firsts;
    for (const std::uint32_t rank : ranks)
        if (firsts.empty() || rank / of_device() != firsts.back() / of_device())
            firsts.push_back(rank);
    return firsts;
}

std::uint32_t FoldedGroups::stride(MembersOn on) const {
    const std::uint32_t replica = plan_.tensor * plan_.context;
    const bool experts = on.members == FoldedGroup::kExpert ||
                         on.members == FoldedGroup::kExpertRail ||
                         on.members == FoldedGroup::kExpertReplicas;
    return experts ? replica * plan_.expert : replica;
}

std::uint32_t FoldedGroups::ranks(MembersOn members) const {
    const std::uint32_t all = of_device() * members.devices;
    return replicates(members) ? all : std::min(all, std::max(stride(members), machine_));
}

std::uint32_t FoldedGroups::whole_ranks(MembersOn members, std::uint32_t above) const {
    const std::uint32_t unit = std::lcm(stride(members), machine_);
    return (above / unit + 1) * unit;
}

std::vector<bool> FoldedGroups::taking_part(MembersOn on, std::uint32_t ranks) const {
    std::vector<bool> part(ranks, !replicates(on) || ways_.empty());
    if (ranks == 0 || part.front())
        return part;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> of_way;
    const auto way = [&](std::uint32_t rank) {
        return std::pair(rank / machine_, ways_[rank % machine_]);
    };
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        of_way[way(rank)].push_back(rank);
    std::vector<std::uint32_t> found{0};
    part.front() = true;
    const auto add = [&](const std::vector<std::uint32_t>& more) {
        for (const std::uint32_t rank : more)
            if (rank < ranks && !part[rank]) {
                part[rank] = true;
                found.push_back(rank);
            }
    };
    for (std::size_t i = 0; i < found.size(); ++i) {
        add(group(on, found[i]));
        add(of_way[way(found[i])]);
    }
    return part;
}

ExecutionGraph FoldedGroups::probe(
    const CollectiveFamily& family, const std::vector<std::size_t>& which,
    std::uint32_t ranks) const {
    ExecutionGraph graph;
    graph.names = {"mark", "collective"};
    graph.provenance.synthetic = true;
    graph.provenance.world_size = ranks;
    const auto idle = std::make_shared<const RankGraph>();
    graph.ranks.assign(ranks, idle);
    const std::vector<bool> part = taking_part(family.members, ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        if (graph.ranks[rank] != idle || !part[rank])
            continue;
        Group own{"probe", group(family.members, rank)};
        const std::size_t all = own.ranks.size();
        std::erase_if(own.ranks, [&](std::uint32_t other) { return other >= ranks; });
        RankGraph operations;
        operations.streams = {{StreamKind::kGpu, "compute", 0}};
        for (const std::size_t i : which) {
            operations.operations.push_back(operation_of(0, mark()));
            CollectiveOperation collective;
            collective.kind = family.kind;
            collective.datatype = family.datatype;
            collective.bytes = Bytes(family.bytes[i].count() / all * own.ranks.size());
            collective.group = static_cast<std::uint32_t>(graph.groups.size());
            collective.sequence = operations.operations.size() / 2;
            collective.size_source = SizeSource::kUser;
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
