// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/kernels.h"

#include "models/collectives/copy/copy_choice.h"
#include "models/collectives/symmetric/symmetric_move.h"

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
