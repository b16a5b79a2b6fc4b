// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/communication_bodies.h"

#include "core/error.h"
#include "workloads/profile/classify.h"
#include "workloads/profile/collective_operation.h"
#include "workloads/profile/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

// Group members in total: allows more than 1,000 groups in each of 16 dimensions for a run of 1,000
// ranks.
constexpr std::uint64_t kMostMembers = 16'000'000;

/// Messages of one group do not match those of another: a number that all ranks derive alike
/// (FNV-1a).
std::uint64_t group_tag(std::string_view group) {
    std::uint32_t hash = 2166136261;
    for (const char c : group)
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return hash;
}

}  // namespace

std::vector<RawMessage> CommunicationBodies::messages_of(const RawGpuEvent& gpu) const {
    std::vector<RawMessage> messages;
    if (gpu.work != GpuWork::kCommunication)
        return messages;
    const CollectiveDetails& details = raw_.collectives[gpu.details];
    for (std::uint32_t i = 0; i < details.messages; ++i)
        if (raw_.messages[details.first_message + i].peer != raw_.report.rank)
            messages.push_back(raw_.messages[details.first_message + i]);
    return messages;
}

OperationBody
CommunicationBodies::message_body(const RawGpuEvent& gpu, const RawMessage& message) const {
    const CollectiveDetails& details = raw_.collectives[gpu.details];
    const std::uint64_t tag = group_tag(raw_.texts[details.group_name]);
    if (message.sends)
        return SendOperation{message.peer, message.bytes, tag};
    return ReceiveOperation{message.peer, message.bytes, tag};
}

/// A kernel without a model, or whose peers are unknown: it holds its blocks for as long as it
/// was traced and waits for nobody.
CollectiveOperation
CommunicationBodies::alone_as_traced(const RawGpuEvent& gpu, CollectiveKind kind) {
    CollectiveOperation collective = describe_collective(raw_, gpu, kind, 1);
    collective.group =
        group_table_.index({fmt::format("rank {}", raw_.report.rank), {raw_.report.rank}});
    collective.sequence = sequences_[collective.group]++;
    collective.bytes = Bytes();
    collective.size_source = SizeSource::kTrace;
    collective.given = Time(gpu.duration);
    collective.holds_blocks = true;
    return collective;
}

/// Libraries without a model, and no size: a kernel of these blocks that takes the shortest
/// time of its runs, since others waited for peers.
void CommunicationBodies::take_time(const RawGpuEvent& gpu, CollectiveOperation& collective) {
    if (collective.size_source == SizeSource::kTrace || is_of_nccl(raw_.name_of(gpu)))
        return;
    if (shortest_.empty())
        for (const RawGpuEvent& one : raw_.gpu)
            if (one.work == GpuWork::kCommunication) {
                const auto [at, fresh] = shortest_.try_emplace(one.task, one.duration);
                at->second = std::min(at->second, one.duration);
            }
    collective.given = Time(std::max<std::uint64_t>(1, shortest_.at(gpu.task)));
    collective.holds_blocks = true;
    collective.size_source = SizeSource::kTrace;
    ++without_model_;
}

void CommunicationBodies::take_parts(
    const CollectiveDetails& details, const std::vector<std::uint32_t>& ranks,
    CollectiveOperation& collective) {
    if (collective.kind != CollectiveKind::kAllToAll || !states_parts(raw_, details))
        return;
    auto exchange = exchange_of(raw_, details, collective, ranks);
    if (!exchange) {
        ++other_parts_;
        return;
    }
    const auto own = std::lower_bound(ranks.begin(), ranks.end(), raw_.report.rank);
    collective.bytes = exchange->sent_by(static_cast<std::uint32_t>(own - ranks.begin()));
    collective.size_source = SizeSource::kTrace;
    exchanges_.push_back(std::move(*exchange));
    collective.exchange = static_cast<std::uint32_t>(exchanges_.size());
}

OperationBody
CommunicationBodies::body_of(const RawGpuEvent& gpu, const std::vector<RawMessage>& messages) {
    const auto kind = collective_kind(raw_, gpu);
    if (!kind) {
        ++unknown_;
        return alone_as_traced(gpu, CollectiveKind::kSendReceive);
    }
    const CollectiveDetails& details = raw_.collectives[gpu.details];
    if (is_point_to_point(raw_, gpu)) {
        if (messages.empty()) {
            unmatched_ += details.messages == 0 ? 1 : 0;
            return alone_as_traced(gpu, CollectiveKind::kSendReceive);
        }
        // Where one rank stands for all, the group tells which rank is whose peer.
        static_cast<void>(group_of(details));
        return message_body(gpu, messages.front());
    }
    const std::uint32_t group = group_of(details);
    const std::vector<std::uint32_t>& ranks = groups_[group].ranks;
    CollectiveOperation collective = describe_collective(raw_, gpu, *kind, ranks.size());
    collective.group = group;
    collective.sequence = sequences_[group]++;
    take_time(gpu, collective);
    take_parts(details, ranks, collective);
    return collective;
}

std::uint32_t CommunicationBodies::group_of(const CollectiveDetails& details) {
    const auto known =
        group_of_.find({details.group_name, details.group_ranks, details.group_size});
    if (known != group_of_.end())
        return known->second;
    const std::uint32_t group = find_group(details);
    group_of_[{details.group_name, details.group_ranks, details.group_size}] = group;
    return group;
}

std::uint32_t CommunicationBodies::find_group(const CollectiveDetails& details) {
    Group group;
    group.name = details.group_name == 0 ? "world" : raw_.texts[details.group_name];
    group.ranks = group_ranks(raw_, details);
    if (!lists_ranks(raw_, details) && group.ranks.size() > 1 &&
        group.ranks.size() != raw_.report.world_size) {
        const std::vector<std::uint32_t> listed = listed_ranks(raw_, details);
        const bool goes_on = !listed.empty() && listed.size() < group.ranks.size() &&
                             std::equal(listed.begin(), listed.end(), group.ranks.begin());
        ++(goes_on ? cut_groups_ : unlisted_groups_);
    }
    members_ += group.ranks.size();
    if (members_ > kMostMembers)
        throw ConfigError(
            raw_.report.file, "",
            fmt::format(
                "has {} process groups of up to {} ranks; expected fewer", groups_.size() + 1,
                group.ranks.size()));
    return group_table_.index(std::move(group));
}

void CommunicationBodies::tell(std::vector<std::string>& warnings) const {
    if (unknown_ > 0)
        warnings.push_back(fmt::format(
            "{} communication kernel{} of unknown kind (barriers, signals): each holds its thread "
            "blocks for its traced time",
            unknown_, unknown_ == 1 ? " is" : "s are"));
    if (unmatched_ > 0)
        warnings.push_back(fmt::format(
            "{} point-to-point call{} no peer or size, so nothing matches sends with receives: "
            "each holds its thread blocks for its traced time",
            unmatched_, unmatched_ == 1 ? " states" : "s state"));
    if (without_model_ > 0)
        warnings.push_back(fmt::format(
            "{} collective{} of unknown size of other libraries than NCCL: each is a kernel "
            "that "
            "holds its thread blocks for the shortest traced time of its like, in every "
            "scenario",
            without_model_, without_model_ == 1 ? " is" : "s are"));
    if (other_parts_ > 0)
        warnings.push_back(fmt::format(
            "{} all-to-all{} as many split sizes as ranks: taken as even", other_parts_,
            other_parts_ == 1 ? " does not state" : "s do not state"));
    if (cut_groups_ > 0)
        warnings.push_back(fmt::format(
            "the list{} of {} process group{} cut short (\"...\"): taken to go on as {}",
            cut_groups_ == 1 ? "" : "s", cut_groups_,
            cut_groups_ == 1 ? "'s ranks is" : "s' ranks are",
            cut_groups_ == 1 ? "it begins" : "they begin"));
    if (unlisted_groups_ > 0)
        warnings.push_back(fmt::format(
            "the ranks of {} process group{} not listed: taken as neighbours, as frameworks "
            "lay out blocks",
            unlisted_groups_, unlisted_groups_ == 1 ? " are" : "s are"));
}

}  // namespace switchfold
