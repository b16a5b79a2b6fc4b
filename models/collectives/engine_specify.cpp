// SPDX-License-Identifier: Apache-2.0
// What becomes of a collective: algorithm, protocol, thread blocks, and the ways that it takes.
#include "core/error.h"
#include "core/first_ranks.h"
#include "models/collectives/choice/block_limit.h"
#include "models/collectives/choice/exchange.h"
#include "models/collectives/engine.h"
#include "models/collectives/experts/choice.h"
#include "models/collectives/experts/sent_rows.h"
#include "models/collectives/library.h"
#include "models/collectives/peer_copies/wiring.h"

#include <fmt/format.h>

#include <algorithm>

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

CollectiveConfig
CollectiveEngine::choose(const std::vector<std::uint32_t>& ranks, Bytes bytes, Datatype datatype) {
    const CallGroup group(fabric_.topology(), ranks, view(ranks).machine);
    const CollectiveCall call{CollectiveKind::kAllReduce, bytes, datatype};
    const CollectivePolicy policy = able_policy(call, group);
    return library_for(call.kind, policy).choose(params_, policy, call, group);
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
    if (spec.kind == CollectiveKind::kSendReceive)
        spec.root = CollectiveSpec::kEveryRank;
    if (spec.size() < 2) {
        spec.layout = one_domain(1);
        spec.rings = {{0}};
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
        const std::vector<std::uint32_t>& given = groups_[collective.group].whole;
        whole = given.empty() ? first_ranks(spec.stands_for) : given;
    }
    const GroupView& group = view(whole);
    spec.layout = group.layout;
    spec.rings = group.rings;
    spec.trees = group.trees;
    const CallGroup there(fabric_.topology(), whole, group.machine);
    const CollectiveCall call{spec.kind, spec.bytes, spec.datatype, collective.exchange == 0};
    if (spec.kind == CollectiveKind::kAllReduce && ring_for_downed_link(call, there)) {
        spec.choice = ring_choice(spec, 0);
        spec.fallback = Fallback::kLinkDown;
        return spec;
    }
    const CollectivePolicy policy = able_policy(call, there);
    const CommunicationLibrary& library = library_for(spec.kind, policy);
    if (is_exchange(spec.kind) && policy.kernels == Kernels::kClassic &&
        policy.algorithm != Algorithm::kProgram) {
        specify_exchange(collective, policy, there, spec);
        return spec;
    }
    spec.choice = library.choose(params_, policy, call, there);
    if (fabric_.topology().sums_in_elements())
        spec.accumulation = Accumulation::kElement;
    if (spec.choice.algorithm == Algorithm::kTopologyTree)
        spec.reduce_trees = reduce_trees(spec.ranks, spec.choice.of<PeerCopyPolicy>().trees);
    take_traced_kernel(collective, spec);
    return spec;
}

bool CollectiveEngine::ring_for_downed_link(const CollectiveCall& call, const CallGroup& group) {
    const CollectivePolicy policy = policies_.of(call.kind);
    if (policy.kernels != Kernels::kClassic || policy.algorithm != Algorithm::kInSwitch ||
        fabric_.links_down().empty())
        return false;
    const Refusal refusal = library_for(call.kind, policy).refuses(params_, policy, call, group);
    if (refusal)
        notes_.push_back(fmt::format(
            "an in-switch all-reduce ran as a ring: {} is down and {}",
            fabric_.links_down().front(), refusal.why));
    return static_cast<bool>(refusal);
}

void CollectiveEngine::specify_experts(
    const CollectiveOperation& collective, CollectiveSpec& spec) const {
    spec.experts = &experts_.at(collective.experts);
    spec.layout = lay_out(fabric_.topology(), spec.ranks);
    ExpertsCall experts{*spec.experts, policies_.experts, {}};
    experts.machine.sms = sms_;
    CollectiveCall call{spec.kind, spec.bytes, spec.datatype};
    call.experts = &experts;
    const CallGroup group(fabric_.topology(), spec.ranks, params_.transfer_unit);
    const CommunicationLibrary& library = library_for(spec.kind, {});
    spec.choice = library.choose(params_, {}, call, group);
    const std::uint32_t most = policies_.most_blocks;
    if (most == 0 || spec.choice.channels <= most)
        return;
    const std::uint32_t least = library.fewest_blocks(call);
    if (most < least)
        throw SimulationError(
            name(), clock_.now(),
            fmt::format(
                "a {} takes {} thread blocks at least, and has {}", to_string(spec.kind), least,
                most));
    experts.policy = limited(experts.policy, most);
    spec.choice = library.choose(params_, {}, call, group);
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
    spec.choice.of<NcclConfig>().of_experts = true;
}

CollectivePolicy
CollectiveEngine::able_policy(const CollectiveCall& call, const CallGroup& group) const {
    CollectivePolicy policy = policies_.of(call.kind);
    while (true) {
        const CommunicationLibrary& library = library_for(call.kind, policy);
        const Refusal refusal = library.refuses(params_, policy, call, group);
        if (!refusal)
            return policy;
        // An explicit policy for the kind must be met; kinds that follow all-reduces fall back.
        if (policies_.named(call.kind)) {
            const bool kernels = refusal.field == "kernels";
            const bool all_reduce = call.kind == CollectiveKind::kAllReduce;
            throw SimulationError(
                name(), clock_.now(),
                fmt::format(
                    "{} cannot run {} {}{}: {}",
                    all_reduce && !kernels ? "an all-reduce" : to_string(call.kind),
                    kernels ? "with" : "as", refusal.value, kernels ? " kernels" : "",
                    refusal.why));
        }
        policy = library.instead(policy);
    }
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

CollectiveConfig CollectiveEngine::ring_choice(const CollectiveSpec& spec, std::uint32_t channels) {
    CollectivePolicy ring = with_classic_kernels(policies_.of(spec.kind));
    ring.algorithm = Algorithm::kRing;
    if (channels != 0)
        ring.channels = channels;
    const CollectiveConfig choice = choose_collective(
        params_, ring, view(spec.ranks).machine, {spec.kind, spec.bytes, spec.datatype});
    return limited(choice, static_cast<std::uint32_t>(spec.ranks.size()), policies_.most_blocks);
}

}  // namespace switchfold
