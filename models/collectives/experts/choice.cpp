// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/choice.h"

#include <fmt/format.h>

namespace switchfold {

namespace {

constexpr std::uint32_t kWarpThreads = 32;

bool halves(ExpertsLibrary library) {
    return library == ExpertsLibrary::kAuto || library == ExpertsLibrary::kDeepepNormal ||
           library == ExpertsLibrary::kInSwitch;
}

}  // namespace

void ExpertsPolicy::check(ParamChecker& checker) const {
    if (halves(library) && sms % 2 != 0)
        checker.error(
            "/sms",
            fmt::format(
                "is {}, and half of the SMs send while half receive; expected an even number",
                sms));
}

ExpertsRefusal why_no_experts(
    const ExpertsParams& params,
    const ExpertsPolicy& policy,
    const ExpertExchange& exchange,
    const ExpertsMachine& machine) {
    const ExpertsLibrary library = library_of(policy);
    if (params.copy_round == Time())
        return {
            "",
            "its collectives state no experts/copy_round; expected a machine that says how such "
            "kernels run on its GPUs"};
    if (policy.sms > machine.sms)
        return {
            "/sms",
            fmt::format(
                "is {}, more than the {} SMs of a GPU; expected at most those",
                policy.sms,
                machine.sms)};
    if (machine.machines > 1)
        return {
            "",
            fmt::format(
                "its {} ranks lie on {} machines; expected ranks of one NVLink domain",
                machine.ranks,
                machine.machines)};
    if (machine.ranks > params.threads / kWarpThreads)
        return {
            "",
            fmt::format(
                "a block of {} threads has no warp for each of {} ranks; expected at most {}",
                params.threads,
                machine.ranks,
                params.threads / kWarpThreads)};
    const std::uint32_t chunk = policy.chunk != 0 ? policy.chunk : params.dispatch_chunk;
    if (chunk > params.ring_tokens / 2)
        return {
            "/chunk",
            fmt::format(
                "is {}, more than half of the {} tokens of a ring buffer; expected at most that",
                chunk,
                params.ring_tokens)};
    static_cast<void>(exchange);
    static_cast<void>(library);
    return {};
}

Choice choose_experts(
    const CollectiveParams& params, const ExpertsPolicy& policy, CollectiveKind kind) {
    Choice choice;
    choice.library = library_of(policy);
    choice.channels = policy.sms != 0 ? policy.sms : params.experts.sms;
    const std::uint32_t tuned = kind == CollectiveKind::kMoeDispatch
                                    ? params.experts.dispatch_chunk
                                    : params.experts.combine_chunk;
    choice.chunk = policy.chunk != 0 ? policy.chunk : tuned;
    return choice;
}

}  // namespace switchfold
