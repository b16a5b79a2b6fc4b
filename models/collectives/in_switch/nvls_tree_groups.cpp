// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/nvls_tree_groups.h"

#include "models/collectives/in_switch/in_switch_steps.h"
#include "models/collectives/in_switch/nvls_chunk_size.h"

#include <algorithm>

namespace switchfold {

NvlsTreeGroups::~NvlsTreeGroups() {
    for (const DomainGroups& groups : machines_)
        groups.remove(fabric_);
    for (const auto& group : rails_)
        if (group)
            fabric_.remove_group(*group);
}

bool NvlsTreeGroups::create(
    const CollectiveParams& params, const CollectiveSpec& spec, std::string& refused) {
    for (const auto& members : spec.layout.machines) {
        machines_.push_back(
            spec.stands_for != 0 ? fold(params, spec, members, refused)
                                 : DomainGroups{create(spec, members, refused), nullptr});
        if (!machines_.back().all)
            return false;
    }
    if (spec.choice.algorithm == Algorithm::kCollnet)
        for (const auto& members : rails_across(spec.layout)) {
            rails_.push_back(create(spec, members, refused));
            if (!rails_.back())
                return false;
        }
    return true;
}

std::unique_ptr<ReductionGroup> NvlsTreeGroups::create(
    const CollectiveSpec& spec, const std::vector<std::uint32_t>& positions, std::string& refused) {
    std::vector<std::uint32_t> ranks;
    for (const std::uint32_t position : positions)
        ranks.push_back(spec.ranks[position]);
    return fabric_.create_group(ranks, spec.element, refused);
}

DomainGroups NvlsTreeGroups::fold(
    const CollectiveParams& params, const CollectiveSpec& spec,
    const std::vector<std::uint32_t>& members, std::string& refused) {
    const std::uint64_t round = stage_warps(params, StageRole::kTreeNode, spec.size()).round;
    return create_folded_groups(
        fabric_, members.front(), nvls_chunks_of(params, spec), round, spec.element, refused);
}

}  // namespace switchfold
