// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

#include <string>

namespace switchfold {

/// Whether copy engines support this kind, on any machine.
[[nodiscard]] bool copy_knows(CollectiveKind kind);

/// Why copy engines cannot run this collective on this machine; empty if they can. Limits of the
/// topology are checked elsewhere.
[[nodiscard]] std::string why_no_copy(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call);

/// Peer-to-peer copies or, if requested, copies to all at once through the switch.
[[nodiscard]] CollectiveConfig choose_copy(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call);

}  // namespace switchfold
