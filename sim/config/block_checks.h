// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "models/collectives/choice/policies.h"
#include "models/collectives/choice/tuning.h"
#include "models/collectives/parameters.h"
#include "models/gpu/parameters.h"

namespace switchfold {

struct SystemParams;

/// Tells of thread blocks of collectives that do not fit on an empty SM of this GPU, at what makes
/// them too large.
void check_blocks(const GpuParams& gpu, const CollectiveParams& collectives, ParamChecker& checker);

/// Thread blocks of a collective by such a policy that the GPU holds at the same time. A collective
/// of more would wait for ever for those that are not resident. UINT32_MAX: it takes no blocks.
[[nodiscard]] std::uint32_t most_blocks(
    const GpuParams& gpu, const CollectiveParams& collectives, const CollectivePolicy& policy);

/// Likewise of a system: as many as each of its kinds of GPU holds.
[[nodiscard]] std::uint32_t
most_blocks(const SystemParams& system, const CollectivePolicy& policy = {});

/// The policies with no more thread blocks than the system's GPUs hold, also where a trace of
/// larger GPUs has more.
[[nodiscard]] CollectivePolicies within(const SystemParams& system, CollectivePolicies policies);

}  // namespace switchfold
