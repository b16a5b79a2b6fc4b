// SPDX-License-Identifier: Apache-2.0
// What becomes of a collective: algorithm, protocol, thread blocks, and the ways that it takes.
#include "models/collectives/choice/block_limit.h"
#include "models/collectives/choice/exchange.h"
#include "models/collectives/choice/kernels.h"
#include "models/collectives/engine.h"
#include "models/collectives/experts/choice.h"
#include "models/collectives/experts/sent_rows.h"
#include "models/collectives/peer_copies/wiring.h"
#include "sim/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace switchfold {

namespace {

ElementType element_of(Datatype type) {
    switch (type) {
    case Datatype::kFloat16:
        return ElementType::kFloat16;
    case Datatype::kBfloat16:
        return ElementType::kBfloat16;
    default:
        return ElementType::kFloat32;
    }
}

}  // namespace

const GroupView& CollectiveEngine::view(const std::vector<std::uint32_t>& ranks) {
    auto& found = views_[ranks];
    if (!found) {
        found = std::make_unique<GroupView>(
            view_group(fabric_.topology(), params_.transfer_unit, ranks));
        found->machine.one_generation =
            generations_.empty() ||
            std::all_of(ranks.begin(), ranks.end(), [&](std::uint32_t rank) {
                return generations_[rank] == generations_[ranks.front()];
            });
    }
    if (found->machine.ring_bandwidth == Bandwidth())
        for (const auto& order :
             found->rings)  // throws naming the disconnected pair and the reason
            for (std::size_t place = 0; place < order.size(); ++place)
                fabric_.connect(ranks[order[place]], ranks[order[(place + 1) % order.size()]]);
    return *found;
}

const std::vector<ReduceTree>&
CollectiveEngine::reduce_trees(const std::vector<std::uint32_t>& ranks, std::uint32_t count) {
    std::vector<ReduceTree>& trees = views_.at(ranks)->reduce_trees;
    if (trees.empty())
        for (FoundTree& found : find_trees(wiring_of(fabric_.topology(), ranks), count))
            trees.push_back(std::move(found.parents));
    return trees;
}

Choice
CollectiveEngine::choose(const std::vector<std::uint32_t>& ranks, Bytes bytes, Datatype datatype) {
    const CollectiveCall call{CollectiveKind::kAllReduce, bytes, datatype};
    return choose_by_kernels(
        params_, able_policy(call, view(ranks).machine, true), view(ranks).machine, call);
}

CollectiveSpec CollectiveEngine::specify(const CollectiveOperation& collective) {
    CollectiveSpec spec;
    spec.kind = collective.kind;
    spec.bytes = collective.bytes;
    spec.datatype = collective.datatype;
    spec.element = element_of(collective.datatype);
    spec.element_bytes = static_cast<std::uint32_t>(size_of(collective.datatype).count());
    spec.ranks = groups_[collective.group].ranks;
    spec.stands_for = groups_[collective.group].stands_for;
    if (collective.holds_blocks && collective.given != Time()) {
        specify_as_traced(collective, spec);
        if (!ignores_late_peers_)
            spec.peers_late = collective.peers_late;
        return spec;
    }
    if (spec.size() < 2) {
        spec.layout = one_domain(1);
        spec.rings = {{0}};
        spec.root = spec.kind == CollectiveKind::kSendReceive ? CollectiveSpec::kEveryRank : 0;
        spec.choice.channels = 1;
        spec.bytes = Bytes(0);
        return spec;
    }
    if (!ignores_late_peers_)
        spec.peers_late = collective.peers_late;
    if (is_experts(spec.kind)) {
        if (library_of(policies_.experts) == ExpertsLibrary::kNccl)
            specify_sent_rows(collective, spec);
        else
            specify_experts(collective, spec);
        return spec;
    }
    std::vector<std::uint32_t> whole = spec.ranks;
    if (spec.stands_for != 0) {
        whole.resize(spec.stands_for);
        std::iota(whole.begin(), whole.end(), 0U);
    }
    const GroupView& group = view(whole);
    spec.layout = group.layout;
    spec.rings = group.rings;
    spec.trees = group.trees;
    if (spec.kind == CollectiveKind::kAllReduce) {
        spec.choice = choose(whole, spec.bytes, spec.datatype);
        const std::string reason =
            why_not(spec.choice.algorithm, spec.kind, spec.datatype, fabric_.topology(), whole);
        if (!reason.empty() && spec.choice.algorithm == Algorithm::kInSwitch &&
            !fabric_.links_down().empty()) {
            spec.choice = ring_choice(spec, 0);
            spec.fallback = Fallback::kLinkDown;
            notes_.push_back(fmt::format(
                "an in-switch all-reduce ran as a ring: {} is down and {}",
                fabric_.links_down().front(),
                reason));
            return spec;
        }
        if (!reason.empty())
            throw SimulationError(
                name(),
                clock_.now(),
                fmt::format(
                    "an all-reduce cannot run as {}: {}",
                    enum_name(spec.choice.algorithm),
                    reason));
        if (spec.choice.algorithm == Algorithm::kTopologyTree)
            spec.reduce_trees = reduce_trees(spec.ranks, spec.choice.copies.trees);
        if (!moves_by_copies(spec.choice.algorithm))
            take_traced_kernel(collective, spec);
        return spec;
    }
    CollectivePolicy policy = able_policy(
        {spec.kind, spec.bytes, spec.datatype}, group.machine, collective.exchange == 0);
    if (policy.kernels != Kernels::kClassic) {
        spec.choice = choose_by_kernels(
            params_, policy, group.machine, {spec.kind, spec.bytes, spec.datatype});
        return spec;
    }
    if (is_exchange(spec.kind)) {
        specify_exchange(collective, policy, group.machine, spec);
        return spec;
    }
    if (policy.algorithm == Algorithm::kInSwitch && through_switches(spec)) {
        spec.choice.algorithm = Algorithm::kInSwitch;
        spec.layout = one_domain(static_cast<std::uint32_t>(whole.size()));
        spec.choice.channels = policy.channels != 0 ? policy.channels : params_.in_switch_channels;
        return spec;
    }
    if (policy.algorithm != Algorithm::kAuto)
        policy.algorithm = Algorithm::kRing;
    spec.choice =
        choose_collective(params_, policy, group.machine, {spec.kind, spec.bytes, spec.datatype});
    take_traced_kernel(collective, spec);
    return spec;
}

void CollectiveEngine::specify_experts(
    const CollectiveOperation& collective, CollectiveSpec& spec) const {
    spec.experts = &experts_.at(collective.experts);
    spec.layout = lay_out(fabric_.topology(), spec.ranks);
    ExpertsPolicy policy = policies_.experts;
    spec.choice = choose_experts(params_, policy, spec.kind, *spec.experts, sms_);
    const std::uint32_t most = policies_.most_blocks;
    if (most == 0 || spec.choice.channels <= most)
        return;
    const std::uint32_t least = least_blocks(policy, *spec.experts);
    if (most < least)
        throw SimulationError(
            name(),
            clock_.now(),
            fmt::format(
                "a {} takes {} thread blocks at least, and has {}",
                to_string(spec.kind),
                least,
                most));
    policy = limited(policy, most);
    spec.choice = choose_experts(params_, policy, spec.kind, *spec.experts, sms_);
}

void CollectiveEngine::specify_sent_rows(
    const CollectiveOperation& collective, CollectiveSpec& spec) {
    const ExpertExchange& exchange = experts_.at(collective.experts);
    const auto [rows, fresh] = sent_rows_.try_emplace({collective.experts, spec.kind});
    if (fresh)
        rows->second = sent_rows(exchange, spec.size(), spec.kind);
    spec.datatype = element_of_row(exchange, spec.kind);
    spec.element = element_of(spec.datatype);
    spec.element_bytes = static_cast<std::uint32_t>(size_of(spec.datatype).count());
    spec.kind = CollectiveKind::kAllToAll;
    const GroupView& group = view(spec.ranks);
    spec.layout = group.layout;
    spec.rings = group.rings;
    CollectivePolicy policy = with_classic_kernels(policies_.of(spec.kind));
    if (policies_.experts.sms != 0)
        policy.channels = policies_.experts.sms;
    specify_parts(rows->second, policy, group.machine, spec);
    spec.choice.library = ExpertsLibrary::kNccl;
}

CollectivePolicy CollectiveEngine::able_policy(
    const CollectiveCall& call, const MachineView& machine, bool even) const {
    const CollectivePolicy policy = policies_.of(call.kind);
    const std::string reason =
        even ? why_not_kernels(params_, policy, machine, call) : why_not_uneven(policy.kernels);
    if (reason.empty())
        return policy;
    // An explicit policy for the kind must be met; kinds that follow all-reduces fall back.
    if (policies_.named(call.kind))
        throw SimulationError(
            name(),
            clock_.now(),
            fmt::format(
                "{} cannot run with {} kernels: {}",
                to_string(call.kind),
                enum_name(policy.kernels),
                reason));
    return with_classic_kernels(policy);
}

bool CollectiveEngine::through_switches(const CollectiveSpec& spec) const {
    if (spec.kind != CollectiveKind::kReduceScatter && spec.kind != CollectiveKind::kAllGather)
        return false;
    const std::string reason =
        why_not(Algorithm::kInSwitch, spec.kind, spec.datatype, fabric_.topology(), spec.ranks);
    // An explicit policy for the kind must be met; kinds that follow all-reduces fall back.
    if (!reason.empty() && policies_.named(spec.kind))
        throw SimulationError(
            name(),
            clock_.now(),
            fmt::format("{} cannot run as in_switch: {}", to_string(spec.kind), reason));
    return reason.empty();
}

CollectiveSpec CollectiveEngine::specify(const TransferEnd& end) {
    CollectiveSpec spec;
    spec.kind = CollectiveKind::kSendReceive;
    spec.bytes = end.bytes;
    spec.ranks = {std::min(end.sender, end.receiver), std::max(end.sender, end.receiver)};
    spec.root = end.sender < end.receiver ? 0 : 1;
    spec.layout = lay_out(fabric_.topology(), spec.ranks);
    spec.rings = {{0, 1}};
    spec.choice.protocol = Protocol::kSimple;
    // NCCL divides a transfer among its channels in pieces of at least an eighth of a step.
    const std::uint64_t piece =
        std::max<std::uint64_t>(1, params_.simple_buffer.count() / params_.steps / 8);
    spec.choice.channels = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(end.bytes.count() / piece, 1, params_.channels));
    return spec;
}

CollectiveSpec CollectiveEngine::limit(CollectiveSpec spec) const {
    const std::uint32_t most = policies_.most_blocks;
    const bool one_peer = spec.kind == CollectiveKind::kSendReceive;
    spec.choice = limited(spec.choice, one_peer ? 1 : spec.size(), most);
    if (most != 0)
        spec.blocks = std::min(spec.blocks, most);
    return spec;
}

Choice CollectiveEngine::ring_choice(const CollectiveSpec& spec, std::uint32_t channels) {
    CollectivePolicy ring = with_classic_kernels(policies_.of(spec.kind));
    ring.algorithm = Algorithm::kRing;
    if (channels != 0)
        ring.channels = channels;
    const Choice choice = choose_collective(
        params_, ring, view(spec.ranks).machine, {spec.kind, spec.bytes, spec.datatype});
    return limited(choice, static_cast<std::uint32_t>(spec.ranks.size()), policies_.most_blocks);
}

}  // namespace switchfold
