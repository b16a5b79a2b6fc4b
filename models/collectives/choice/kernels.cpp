// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/kernels.h"

#include "models/collectives/copy/copy_choice.h"
#include "models/collectives/symmetric/symmetric_move.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace switchfold {

std::string why_not_kernels(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    const CollectiveCall& call) {
    switch (policy.kernels) {
    case Kernels::kClassic:
        return {};
    case Kernels::kSymmetric:
        return why_no_symmetric(params, policy, machine, call);
    case Kernels::kCopyEngine:
        break;
    }
    return why_no_copy(params, policy, machine, call);
}

std::string why_not_uneven(Kernels kernels) {
    // What differs is a group of sends and receives, which NCCL runs with classic kernels.
    if (kernels == Kernels::kClassic)
        return {};
    return fmt::format(
        "its parts differ, and {} exchange equal ones alone",
        kernels == Kernels::kCopyEngine ? "copy engines" : "symmetric kernels");
}

bool traced_with_rings(const CollectiveOperation& collective) {
    constexpr std::array<std::string_view, 4> kTheirs{"", "ring", "tree", "pat"};
    return std::find(kTheirs.begin(), kTheirs.end(), collective.algorithm.text()) != kTheirs.end();
}

Choice choose_by_kernels(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    const CollectiveCall& call) {
    switch (policy.kernels) {
    case Kernels::kClassic:
        return choose_collective(params, policy, machine, call);
    case Kernels::kSymmetric:
        return choose_symmetric(params, policy, machine, call);
    case Kernels::kCopyEngine:
        break;
    }
    return choose_copy(params, policy, machine, call);
}

CollectivePolicy with_classic_kernels(CollectivePolicy policy) {
    policy.kernels = Kernels::kClassic;
    if (policy.algorithm == Algorithm::kDirect)
        policy.algorithm = Algorithm::kAuto;
    return policy;
}

}  // namespace switchfold
