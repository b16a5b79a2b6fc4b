// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/heads_groups.h"

#include "models/collectives/in_switch/heads_pieces.h"
#include "models/collectives/in_switch/in_switch_steps.h"

#include <algorithm>

namespace switchfold {

HeadsGroups::~HeadsGroups() {
    for (const SwitchStages::Groups& groups : machines_)
        for (const auto* group : {&groups.all, &groups.last})
            if (*group)
                fabric_.remove_group(**group);
    for (const auto& group : rails_)
        if (group)
            fabric_.remove_group(*group);
}

bool HeadsGroups::create(
    const CollectiveParams& params, const CollectiveSpec& spec, std::string& refused) {
    for (const auto& members : spec.layout.machines) {
        SwitchStages::Groups& groups = machines_.emplace_back();
        if (spec.stands_for != 0 ? !fold(params, spec, members, groups, refused)
                                 : !create(spec, members, groups.all, refused))
            return false;
    }
    if (spec.choice.algorithm == Algorithm::kCollnet)
        for (const auto& members : rails_across(spec.layout))
            if (!create(spec, members, rails_.emplace_back(), refused))
                return false;
    return true;
}

bool HeadsGroups::create(
    const CollectiveSpec& spec,
    const std::vector<std::uint32_t>& positions,
    std::unique_ptr<ReductionGroup>& group,
    std::string& refused) {
    std::vector<std::uint32_t> ranks;
    for (const std::uint32_t position : positions)
        ranks.push_back(spec.ranks[position]);
    group = fabric_.create_group(ranks, spec.element, refused);
    return group != nullptr;
}

bool HeadsGroups::fold(
    const CollectiveParams& params,
    const CollectiveSpec& spec,
    const std::vector<std::uint32_t>& members,
    SwitchStages::Groups& groups,
    std::string& refused) {
    const HeadPieces pieces = heads_pieces(params, spec);
    const std::uint32_t round = stage_warps(params, StageRole::kTreeNode, spec.size()).round;
    const std::uint64_t unit = std::min<std::uint64_t>(round, params.transfer_unit.count());
    // Each head's piece begins so many stripes further than the first's.
    std::vector<std::uint32_t> turns;
    for (std::uint32_t head = 0; head < members.size(); ++head)
        turns.push_back(static_cast<std::uint32_t>(head * pieces.piece(0, 0, 0).bytes / unit));
    groups.all = fabric_.create_folded_group(members.front(), turns, spec.element, refused);
    turns.resize(pieces.working_heads(0, pieces.loops(0) - 1));
    if (groups.all && turns.size() < members.size())
        groups.last = fabric_.create_folded_group(members.front(), turns, spec.element, refused);
    return groups.all && (groups.last || turns.size() == members.size());
}

}  // namespace switchfold
