// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

#include <string>

namespace switchfold {

/// Why the policy's kernels cannot run this collective on this machine; empty if they can.
[[nodiscard]] std::string why_not_kernels(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    const CollectiveCall& call);

/// Why these kernels cannot run an all-to-all whose parts differ; empty if they can.
[[nodiscard]] std::string why_not_uneven(Kernels kernels);

/// Whether the trace ran the collective with the kernel that rings, trees and direct exchanges
/// share, as far as it says: the blocks that it shows are then theirs.
[[nodiscard]] bool traced_with_rings(const CollectiveOperation& collective);

/// Algorithm, protocol and blocks by the rules of the policy's kernels. \pre they can run the
/// collective; for classic kernels, a ring can.
[[nodiscard]] Choice choose_by_kernels(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    const CollectiveCall& call);

/// The policy with classic kernels, for collectives that the requested kernels cannot run.
[[nodiscard]] CollectivePolicy with_classic_kernels(CollectivePolicy policy);

}  // namespace switchfold
