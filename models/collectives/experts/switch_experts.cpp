// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/switch_experts.h"

#include "core/error.h"
#include "models/collectives/warp.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

SwitchExperts::SwitchExperts(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    MemberListener& listener) :
    ExpertsCollective(environment, spec, listener),
    tables_(routing_),
    blocks_(spec.choice.channels),
    warps_(std::max(1U, params_.threads / kWarpThreads)),
    // Longer ones a switch could not fetch in parts (fetched_from()).
    largest_(static_cast<std::uint32_t>(std::min(machine_.transfer_unit, mebibytes(1)).count())),
    finished_(n_) {
    for (std::uint32_t position = 0; position < n_; ++position)
        for (std::uint32_t peer = 0; peer < n_; ++peer)
            add_part(position);
}

void SwitchExperts::begin(Time start) {
    std::vector<std::uint32_t> ranks;
    const std::uint32_t most = spec_.choice.of<ExpertsConfig>().group_tables;
    for (const GroupTables::Set& set : tables_.sets()) {
        if (most != 0 && groups_.size() == most) {
            refused_ = "as the policy says";
            break;
        }
        ranks.clear();
        for (const std::uint32_t position : set.ranks)
            ranks.push_back(spec_.ranks[position]);
        auto group = fabric_.create_group(ranks, ElementType::kBfloat16, refused_);
        if (!group)
            break;
        groups_.push_back(std::move(group));
    }
    begin_blocks((start + (combine_ ? params_.combine_start : params_.dispatch_start)).count());
}

SwitchExperts::~SwitchExperts() {
    for (const auto& group : groups_)
        fabric_.remove_group(*group);
}

bool SwitchExperts::uses(const Link& link) const {
    return std::any_of(
        groups_.begin(), groups_.end(), [&](const auto& group) { return group->uses(link); });
}

std::uint32_t SwitchExperts::member_of(const ReductionGroup& group, std::uint32_t global_rank) {
    const auto at = std::lower_bound(group.ranks.begin(), group.ranks.end(), global_rank);
    return static_cast<std::uint32_t>(at - group.ranks.begin());
}

std::uint32_t SwitchExperts::position_of(std::uint32_t global_rank) const {
    const auto at = std::lower_bound(spec_.ranks.begin(), spec_.ranks.end(), global_rank);
    return static_cast<std::uint32_t>(at - spec_.ranks.begin());
}

void SwitchExperts::rank_done(std::uint32_t position, std::uint64_t at) {
    SWITCHFOLD_CHECK(!finished_[position], "rank {} is done twice", position);
    finished_[position] = true;
    for (std::uint32_t peer = 0; peer < n_; ++peer) {
        const std::uint64_t way =
            peer == position ? 0 : route(position, peer).latency.count() + params_.poll.count();
        post(kFlag | peer, std::max(at, now()) + way);
    }
}

void SwitchExperts::on_event(std::uint64_t tag) {
    if ((tag & kFlag) == 0)
        return on_stage(tag);
    part_done(static_cast<std::uint32_t>(tag));
}

std::string SwitchExperts::note() const {
    std::uint64_t tokens = 0;
    std::uint64_t hits = 0;
    for (std::size_t set = 0; set < tables_.sets().size(); ++set) {
        tokens += tables_.sets()[set].tokens;
        hits += set < groups_.size() ? tables_.sets()[set].tokens : 0;
    }
    std::uint64_t all = 0;
    for (std::uint32_t rank = 0; rank < n_; ++rank)
        all += routing_.tokens(rank);
    const auto share = [&](std::uint64_t part) {
        return 100.0 * static_cast<double>(part) / static_cast<double>(all);
    };
    return fmt::format(
        "{} sets of destinations, groups for {} of them{}: {:.1f} % of the tokens went through a "
        "group, {:.1f} % without one as a copy for each destination, {:.1f} % to one other rank or "
        "none",
        tables_.sets().size(), groups_.size(),
        refused_.empty() ? "" : fmt::format(" ({})", refused_), share(hits), share(tokens - hits),
        share(all - tokens));
}

std::vector<std::string> SwitchExperts::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (std::uint32_t position = 0; position < n_; ++position)
        if (!finished_[position] && lines.size() < limit)
            lines.push_back(fmt::format("rank {} waits for the switches", spec_.ranks[position]));
    return lines;
}

}  // namespace switchfold
