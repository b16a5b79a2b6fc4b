// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/tuning.h"

#include "models/collectives/choice/cost_model.h"
#include "models/collectives/choice/pcie_channels.h"
#include "models/collectives/choice/search_speeds.h"
#include "models/collectives/choice/tuner_table.h"

#include <algorithm>

namespace switchfold {

CollectivePolicy with_classic_kernels(CollectivePolicy policy) {
    policy.kernels = Kernels::kClassic;
    if (policy.algorithm == Algorithm::kDirect)
        policy.algorithm = Algorithm::kAuto;
    return policy;
}

const ProtocolParams& params_of(const CollectiveParams& params, Protocol protocol) {
    switch (protocol) {
    case Protocol::kLl:
        return params.ll;
    case Protocol::kLl128:
        return params.ll128;
    default:
        return params.simple;
    }
}

std::pair<std::uint32_t, std::uint32_t> wire_ratio(Protocol protocol) {
    switch (protocol) {
    case Protocol::kLl:
        return {2, 1};
    case Protocol::kLl128:
        return {16, 15};
    default:
        return {1, 1};
    }
}

bool reducible_in_switch(Datatype type) {
    return type != Datatype::kInt8 && type != Datatype::kUint8 && type != Datatype::kFloat8;
}

std::optional<OperandFormat> narrowed(Datatype type, const Quantisation& quantised) {
    switch (type) {
    case Datatype::kFloat32:
        return OperandFormat(ElementType::kFloat32, quantised);
    case Datatype::kFloat16:
        return OperandFormat(ElementType::kFloat16, quantised);
    case Datatype::kBfloat16:
        return OperandFormat(ElementType::kBfloat16, quantised);
    default:
        return std::nullopt;
    }
}

std::uint32_t channels_of(const CollectiveParams& params, const MachineView& machine) {
    if (machine.machines == 1 && machine.pcie)
        return std::min(params.channels, pcie_channels(params, machine));
    if (machine.machines == 1 || machine.rails == 0)
        return params.channels;
    constexpr std::uint32_t kMost = 32;
    std::uint32_t rings = machine.rails;
    if (splits_rings(params.tuner, rings, gigabytes(machine.rail_bandwidth) / rings))
        rings *= 2;
    return std::min(2 * rings, kMost);
}

namespace {

/// Bytes per thread below which channels, then threads are removed: NCCL comm.h:49-51.
std::uint64_t wanted_by_thread(Algorithm algorithm, Protocol protocol, const MachineView& machine) {
    constexpr std::uint64_t kSimpleThreshold = 64;
    constexpr std::uint64_t kLlThreshold = 8;
    if (protocol == Protocol::kSimple)
        return kSimpleThreshold;
    const bool by_rank = protocol == Protocol::kLl && algorithm != Algorithm::kTree;
    return kLlThreshold * (by_rank ? machine.ranks : 1);
}

}  // namespace

std::uint32_t channels_for(
    const CollectiveParams& params, Algorithm algorithm, Protocol protocol,
    const MachineView& machine, Bytes bytes) {
    const std::uint64_t per_channel =
        wanted_by_thread(algorithm, protocol, machine) * params_of(params, protocol).threads;
    const std::uint64_t wanted = std::max<std::uint64_t>(1, bytes.count() / per_channel);
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(channels_of(params, machine), wanted));
}

std::uint32_t threads_for(
    const CollectiveParams& params, const CollectiveConfig& choice, const MachineView& machine,
    Bytes bytes) {
    constexpr std::uint32_t kDivisible = 128;
    constexpr std::uint32_t kFewest = 96;
    std::uint32_t threads = params_of(params, choice.protocol).threads;
    if (choice.protocol != Protocol::kLl || choice.algorithm != Algorithm::kRing)
        return threads;
    const std::uint64_t wanted =
        choice.channels * wanted_by_thread(choice.algorithm, choice.protocol, machine);
    const std::uint32_t fewest = std::min(threads, kFewest);
    while (bytes.count() < wanted * threads && threads % kDivisible == 0)
        threads /= 2;
    return std::max(threads, fewest);
}

double missing_threads(const CollectiveParams& params, const CollectiveConfig& choice) {
    const std::uint32_t all = params_of(params, choice.protocol).threads;
    if (choice.threads == 0 || choice.threads >= all)
        return 0;
    return 1 - static_cast<double>(choice.threads) / all;
}

namespace {

/// The in-switch all-reduce for this group: the variant requested, or NCCL's choice.
CollectiveConfig switched(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call, const CostModel& cost) {
    const bool across = machine.machines > 1;
    Algorithm algorithm = policy.algorithm;
    if (algorithm == Algorithm::kAuto)
        algorithm = across ? Algorithm::kInSwitchTree : Algorithm::kInSwitch;
    // With SHARP it would be the network's buffers that count, which are not simulated apart.
    const bool registered = policy.registered && algorithm != Algorithm::kCollnet;
    std::uint32_t channels = params.in_switch_channels;
    if (registered && !across) {
        // NCCL transport/nvls.cc: with registered buffers, ceil(32 / heads) blocks suffice on sm90.
        constexpr std::uint32_t kRegisteredBlocks = 32;
        channels = (kRegisteredBlocks + machine.ranks - 1) / machine.ranks;
    }
    Time estimate = across ? cost.switched_tree(call.bytes) : cost.in_switch(call.bytes);
    if (algorithm == Algorithm::kCollnet)
        estimate = cost.collnet(call.bytes);
    CollectiveConfig choice;
    choice.algorithm = algorithm;
    choice.channels = policy.channels != 0 ? policy.channels : channels;
    choice.estimate = estimate;
    auto& own = choice.of<NcclConfig>();
    own.registered = registered;
    own.mode = policy.mode;
    own.own_mode = policy.own_mode.get();
    if (algorithm == Algorithm::kInSwitch)
        own.quantised = policy.quantised;
    return choice;
}

}  // namespace

namespace {

/// What a tuner's table makes of the policy; nothing: NCCL chooses. As for a plugin, what the
/// machine cannot do is passed over.
std::optional<CollectivePolicy> tuned_policy(
    const CollectivePolicy& policy, const MachineView& machine, const CollectiveCall& call) {
    const TunerTable::Row* row = policy.words.tuner->find(
        call.kind, call.bytes.count(), machine.machines, machine.ranks, policy.registered);
    if (row == nullptr)
        return {};
    const bool all_reduce = call.kind == CollectiveKind::kAllReduce;
    const bool inside = machine.machines == 1;
    const bool switches = machine.in_switch_bandwidth != Bandwidth() &&
                          reducible_in_switch(call.datatype) && all_reduce;
    if ((row->algorithm == Algorithm::kTree && !all_reduce) ||
        (row->algorithm == Algorithm::kInSwitch && !(switches && inside)) ||
        (row->algorithm == Algorithm::kInSwitchTree && !(switches && !inside)) ||
        (row->algorithm == Algorithm::kCollnet && !(switches && machine.network_reduces)))
        return {};
    CollectivePolicy tuned = policy;
    tuned.words.tuner = nullptr;
    tuned.algorithm = row->algorithm;
    tuned.protocol = row->protocol;
    if (row->channels != 0)
        tuned.channels = row->channels;
    return tuned;
}

}  // namespace

CollectiveConfig choose_collective(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call) {
    const CostModel cost(params, machine, call.kind);
    const Bytes bytes = call.bytes;
    const bool all_reduce = call.kind == CollectiveKind::kAllReduce;
    if (policy.algorithm == Algorithm::kAuto && policy.words.tuner != nullptr)
        if (const auto tuned = tuned_policy(policy, machine, call))
            return choose_collective(params, *tuned, machine, call);
    const bool automatic = policy.algorithm == Algorithm::kAuto;
    // An explicit in-switch request is honoured here; refuses() rejects impossible ones earlier.
    if (reduces_in_switch(policy.algorithm))
        return switched(params, policy, machine, call, cost);
    const NcclWords& words = policy.words;
    Protocol only = policy.protocol;
    if (only == Protocol::kAuto && machine.machines > 1)
        only = params.network_protocol;
    CollectiveConfig best;
    best.estimate = kTimeMax;
    const auto consider = [&](const CollectiveConfig& choice) {
        if (words.allows(choice.algorithm) && choice.estimate < best.estimate)
            best = choice;
    };
    const bool may_switch =
        automatic && params.automatic_in_switch && all_reduce && reducible_in_switch(call.datatype);
    if (may_switch)
        consider(switched(params, policy, machine, call, cost));
    if (may_switch && machine.network_reduces) {
        CollectivePolicy collnet = policy;
        collnet.algorithm = Algorithm::kCollnet;
        consider(switched(params, collnet, machine, call, cost));
    }
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree}) {
        if (!automatic && policy.algorithm != algorithm)
            continue;
        // Inside one machine NCCL's tree is a chain, which is never faster than the ring and runs
        // where rings are not allowed; only all-reduces have trees.
        const bool slower = automatic && machine.machines == 1 && words.allows(Algorithm::kRing);
        if (algorithm == Algorithm::kTree && (!all_reduce || slower))
            continue;
        for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
            if ((only != Protocol::kAuto && only != protocol) || !words.allows(protocol))
                continue;
            // LL128 requires atomic 128-byte stores: NVLink, and GPUs of equal compute capability
            // (tuning.cc, typeIntra and minCompCap).
            if (only == Protocol::kAuto && protocol == Protocol::kLl128 &&
                (machine.pcie || !machine.one_generation))
                continue;
            CollectiveConfig choice;
            choice.algorithm = algorithm;
            choice.protocol = protocol;
            choice.channels =
                policy.channels != 0
                    ? policy.channels
                    : words.within(channels_for(params, algorithm, protocol, machine, bytes));
            choice.threads = threads_for(params, choice, machine, bytes);
            choice.estimate = algorithm == Algorithm::kRing ? cost.ring(protocol, bytes)
                                                            : cost.tree(protocol, bytes);
            consider(choice);
        }
    }
    // NCCL, too, runs where the words leave nothing that it could: a ring with Simple.
    if (best.estimate == kTimeMax && words.used()) {
        CollectivePolicy ring = policy;
        ring.words = {};
        ring.algorithm = Algorithm::kRing;
        ring.protocol = Protocol::kSimple;
        return choose_collective(params, ring, machine, call);
    }
    return best;
}

}  // namespace switchfold
