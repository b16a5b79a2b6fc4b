// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

#include <string>

namespace switchfold {

/// Why the policy's kernels cannot do this on this machine; empty if they can.
[[nodiscard]] std::string why_not_kernels(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    const CollectiveCall& call);

/// Algorithm, protocol and blocks by the rules of the policy's kernels, which can do it; of classic
/// ones, of what a ring can do.
[[nodiscard]] Choice choose_by_kernels(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    const CollectiveCall& call);

/// The policy of a collective whose kernels cannot be those asked for.
[[nodiscard]] CollectivePolicy with_classic_kernels(CollectivePolicy policy);

}  // namespace switchfold
