// SPDX-License-Identifier: Apache-2.0
#include "training/plan/fold/plan_orbits.h"

#include <algorithm>
#include <array>
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

}  // namespace

PlanOrbits::PlanOrbits(
    const ParallelPlan& plan, std::uint32_t machine, std::vector<std::uint32_t> ways) :
    plan_(plan), map_(plan_), machine_(machine), orbits_(machine, std::move(ways)) {}

std::vector<std::uint32_t> PlanOrbits::group(MembersOn on, std::uint32_t rank) const {
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

std::optional<MembersOn> PlanOrbits::members_of(const std::vector<std::uint32_t>& ranks) const {
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
        if (const MembersOn on{members, devices}; (devices == 1 || replicates(on)) &&
                                                  first.size() > devices &&
                                                  group(on, first.front()) == first)
            return on;
    return {};
}

std::uint32_t PlanOrbits::stride(MembersOn on) const {
    const std::uint32_t replica = plan_.tensor * plan_.context;
    const bool experts = on.members == FoldedGroup::kExpert ||
                         on.members == FoldedGroup::kExpertRail ||
                         on.members == FoldedGroup::kExpertReplicas;
    return experts ? replica * plan_.expert : replica;
}

GroupOrbit PlanOrbits::orbit(MembersOn members) const {
    const std::uint32_t all = of_device() * members.devices;
    GroupOrbit orbit;
    orbit.apart = replicates(members);
    orbit.ranks = orbit.apart ? all : std::min(all, std::max(stride(members), machine_));
    orbit.stride = stride(members);
    orbit.links = 1 + static_cast<std::uint32_t>(members.members);
    std::vector<bool> found(all, false);
    for (std::uint32_t rank = 0; rank < all; ++rank) {
        if (found[rank])
            continue;
        orbit.groups.push_back(group(members, rank));
        for (const std::uint32_t member : orbit.groups.back())
            found[member] = true;
    }
    return orbit;
}

std::optional<std::uint32_t> PlanOrbits::of(const std::vector<std::uint32_t>& ranks) {
    const std::optional<MembersOn> members = members_of(ranks);
    if (!members)
        return {};
    const auto found = found_.find(*members);
    if (found != found_.end())
        return found->second;
    return found_.emplace(*members, orbits_.add(orbit(*members))).first->second;
}

}  // namespace switchfold
