// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/choice.h"

#include "models/collectives/experts/low_latency.h"
#include "models/collectives/experts/two_sided.h"
#include "models/collectives/warp.h"

#include <fmt/format.h>

namespace switchfold {

namespace {

constexpr std::uint32_t kWarpsOfLowLatency = kLowLatencyThreads / kWarpThreads;

/// Whether half of the thread blocks send, and half receive.
bool halves(const ExpertsPolicy& policy) {
    return library_of(policy) == ExpertsLibrary::kDeepepNormal;
}

/// A setting of the policy is to blame: `why` says what it is.
Refusal by_field(std::string field, std::string why) {
    return {std::move(why), std::move(field), {}, {}};
}
/// Its library is.
Refusal by_library(const ExpertsPolicy& policy, std::string why) {
    return {std::move(why), "library", enum_name(library_of(policy)), {}};
}

Refusal why_no_low_latency(
    const ExpertsPolicy& policy, const ExpertExchange& exchange, const ExpertsMachine& machine) {
    constexpr std::uint32_t kWarps = kWarpsOfLowLatency;
    const std::uint32_t sms = policy.sms != 0 ? policy.sms : machine.sms;
    if (exchange.experts > kWarps * sms) {
        std::string why = fmt::format(
            "{} SMs have no warp for each of {} experts; expected at most {}", sms,
            exchange.experts, kWarps * sms);
        return policy.sms != 0 ? by_field("sms", std::move(why))
                               : by_library(policy, std::move(why));
    }
    if (exchange.top_k > kWarps - 1)
        return by_library(
            policy, fmt::format(
                        "a block has no warp for each of a token's {} experts; expected at most {}",
                        exchange.top_k, kWarps - 1));
    if (exchange.tokens > kMostLowLatencyTokens)
        return by_library(
            policy,
            fmt::format(
                "its buffers have a place for each token and expert, and {} tokens a rank are too "
                "many; expected at most {}",
                exchange.tokens, kMostLowLatencyTokens));
    return {};
}

}  // namespace

void ExpertsPolicy::check(ParamChecker& checker) const {
    if (halves(*this) && sms % 2 != 0)
        checker.error(
            "/sms",
            fmt::format(
                "is {}, and half of the SMs send while half receive; expected an even number",
                sms));
}

Refusal why_no_experts(
    const ExpertsParams& params, const ExpertsPolicy& policy, const ExpertExchange& exchange,
    const ExpertsMachine& machine) {
    const ExpertsLibrary library = library_of(policy);
    if (library != ExpertsLibrary::kNccl && params.copy_round == Time())
        return by_library(
            policy,
            "its collectives state no experts/copy_round; expected a machine that says how such "
            "kernels run on its GPUs");
    if (policy.sms > machine.sms)
        return by_field(
            "sms", fmt::format(
                       "is {}, more than the {} SMs of a GPU; expected at most those", policy.sms,
                       machine.sms));
    if (library == ExpertsLibrary::kNccl)
        return {};
    if (library == ExpertsLibrary::kDeepepLowLatency)
        return why_no_low_latency(policy, exchange, machine);
    if (machine.machines > 1)
        return by_library(
            policy, fmt::format(
                        "its {} ranks lie on {} machines; expected ranks of one NVLink domain",
                        machine.ranks, machine.machines));
    if (library == ExpertsLibrary::kTrtllmTwoSided) {
        if (params.two_sided_row > Time())
            return {};
        return by_library(
            policy,
            "its collectives state no experts/two_sided_row; expected a machine that says how such "
            "kernels run on its GPUs");
    }
    if (library == ExpertsLibrary::kInSwitch) {
        constexpr std::uint64_t kMostSets = 1U << 20U;
        if (std::uint64_t{exchange.tokens} * machine.ranks > kMostSets)
            return by_library(
                policy,
                fmt::format(
                    "each of {} tokens over all ranks may be a set of destinations of its own; "
                    "expected at most {} tokens",
                    std::uint64_t{exchange.tokens} * machine.ranks, kMostSets));
        if (machine.multicast)
            return {};
        return by_library(
            policy, "its switches copy and add nothing for these ranks; expected ones that do");
    }
    if (params.shared_memory > machine.shared_memory)
        return by_library(
            policy,
            fmt::format(
                "its blocks need {} of shared memory, and an SM has {}; expected a GPU that they "
                "fit",
                to_string(params.shared_memory), to_string(machine.shared_memory)));
    if (machine.ranks > params.threads / kWarpThreads)
        return by_library(
            policy,
            fmt::format(
                "a block of {} threads has no warp for each of {} ranks; expected at most {}",
                params.threads, machine.ranks, params.threads / kWarpThreads));
    const std::uint32_t chunk = policy.chunk != 0 ? policy.chunk : params.dispatch_chunk;
    if (chunk > params.ring_tokens / 2)
        return by_field(
            "chunk",
            fmt::format(
                "is {}, more than half of the {} tokens of a ring buffer; expected at most that",
                chunk, params.ring_tokens));
    return {};
}

std::uint32_t least_blocks(const ExpertsPolicy& policy, const ExpertExchange& exchange) {
    switch (library_of(policy)) {
    case ExpertsLibrary::kDeepepLowLatency:
        return (exchange.experts + kWarpsOfLowLatency - 1) / kWarpsOfLowLatency;
    case ExpertsLibrary::kInSwitch:
    case ExpertsLibrary::kNccl:
        return 1;
    default:
        return 2;
    }
}

ExpertsPolicy limited(ExpertsPolicy policy, std::uint32_t most) {
    policy.sms = halves(policy) ? most / 2 * 2 : most;
    return policy;
}

CollectiveConfig choose_experts(
    const CollectiveParams& params, const ExpertsPolicy& policy, CollectiveKind kind,
    const ExpertExchange& exchange, std::uint32_t sms) {
    CollectiveConfig choice;
    ExpertsConfig own;
    own.library = library_of(policy);
    choice.own = own;
    if (own.library == ExpertsLibrary::kDeepepLowLatency) {
        const std::uint32_t most = policy.sms != 0 ? policy.sms : sms;
        choice.channels = low_latency_shape(exchange.experts, most).blocks;
        return choice;
    }
    choice.channels = policy.sms != 0 ? policy.sms : params.experts.sms;
    if (own.library == ExpertsLibrary::kTrtllmTwoSided && policy.sms == 0)
        choice.channels = two_sided_blocks(sms);
    const std::uint32_t tuned = kind == CollectiveKind::kMoeDispatch ? params.experts.dispatch_chunk
                                                                     : params.experts.combine_chunk;
    own.group_tables = policy.group_tables;
    own.chunk = policy.chunk != 0 ? policy.chunk : tuned;
    choice.own = own;
    return choice;
}

}  // namespace switchfold
