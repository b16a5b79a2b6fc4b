// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/group_layout.h"
#include "models/collectives/choice/tuning.h"

#include <string>
#include <vector>

namespace switchfold {

/// Why these ranks cannot exchange by copies; empty if they can.
[[nodiscard]] std::string why_no_peer_copies(
    Algorithm algorithm, const Topology& topology, const std::vector<std::uint32_t>& ranks);

/// Algorithm and configuration of its copies; no thread blocks.
[[nodiscard]] CollectiveConfig choose_peer_copies(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call);

}  // namespace switchfold
