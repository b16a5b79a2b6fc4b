// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

#include <string>

namespace switchfold {

/// Whether copy engines carry this kind, on whatever machine.
[[nodiscard]] bool copy_knows(CollectiveKind kind);

/// Why copy engines cannot carry this collective on this machine; empty if they can. What the
/// topology cannot do is not asked here.
[[nodiscard]] std::string why_no_copy(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    const CollectiveCall& call);

/// Copies from peer to peer, or, where asked for, to all at once through the switch.
[[nodiscard]] Choice choose_copy(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    const CollectiveCall& call);

}  // namespace switchfold
