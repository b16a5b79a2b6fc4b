// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

namespace switchfold {

/// Whether ranks send to each other directly.
[[nodiscard]] bool is_exchange(CollectiveKind kind);

/// How an exchange runs, in which each rank sends `bytes` to every other: NCCL's grouped send and
/// receive (graph/paths.cc ncclTopoComputeP2pChannels, enqueue.cc addP2pToPlan). A kernel has a
/// power of two of blocks; each peer gets as many of them as there are for it, more where a part
/// would be too long, fewer where it would be too short. Short messages go by LL.
[[nodiscard]] Choice choose_exchange(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    Bytes bytes);

}  // namespace switchfold
