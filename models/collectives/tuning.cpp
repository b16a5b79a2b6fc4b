// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/tuning.h"

#include "models/collectives/cost_model.h"

#include <algorithm>

namespace switchfold {

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

std::uint32_t
channels_for(const CollectiveParams& params, Protocol protocol, std::uint32_t ranks, Bytes bytes) {
    // Bytes per thread below which a channel is dropped: NCCL comm.h:49-51.
    constexpr std::uint64_t kSimpleThreshold = 64;
    constexpr std::uint64_t kLlThreshold = 8;
    std::uint64_t per_thread = kSimpleThreshold;
    if (protocol == Protocol::kLl)
        per_thread = kLlThreshold * ranks;
    else if (protocol == Protocol::kLl128)
        per_thread = kLlThreshold;
    const std::uint64_t per_channel = per_thread * params_of(params, protocol).threads;
    const std::uint64_t wanted = std::max<std::uint64_t>(1, bytes.count() / per_channel);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(params.channels, wanted));
}

Choice choose_all_reduce(
    const CollectiveParams& params,
    const AllReducePolicy& policy,
    const MachineView& machine,
    Bytes bytes) {
    if (machine.machines > 1)
        return choose_across_machines(params, policy, machine, bytes);
    Choice best;
    best.estimate = kTimeMax;
    const CostModel cost(params.tuner, machine);
    const bool reduce = machine.in_switch_bandwidth.count() > 0;
    const auto wanted = [&](Algorithm a) {
        return policy.algorithm == Algorithm::kAuto || policy.algorithm == a;
    };
    if (wanted(Algorithm::kInSwitch) && (reduce || policy.algorithm == Algorithm::kInSwitch)) {
        // NCCL transport/nvls.cc: with registered buffers ceil(32 / heads) blocks carry it on sm90.
        constexpr std::uint32_t kRegisteredBlocks = 32;
        const std::uint32_t usual = policy.registered
                                        ? (kRegisteredBlocks + machine.ranks - 1) / machine.ranks
                                        : params.in_switch_channels;
        const std::uint32_t channels = policy.channels != 0 ? policy.channels : usual;
        best = {
            Algorithm::kInSwitch,
            Protocol::kSimple,
            channels,
            policy.registered,
            cost.in_switch(bytes)};
        if (policy.algorithm == Algorithm::kInSwitch)
            return best;
    }
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree}) {
        if (!wanted(algorithm) ||
            (algorithm == Algorithm::kTree && policy.algorithm == Algorithm::kAuto))
            continue;  // inside one node NCCL's tree is a chain, never faster than the ring
        for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
            if (policy.protocol != Protocol::kAuto && policy.protocol != protocol)
                continue;
            const std::uint32_t channels =
                policy.channels != 0 ? policy.channels
                                     : channels_for(params, protocol, machine.ranks, bytes);
            const Time estimate = cost.ring(protocol, params.channels, bytes);
            if (estimate < best.estimate)
                best = {algorithm, protocol, channels, false, estimate};
        }
    }
    return best;
}

}  // namespace switchfold
