// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/copies/copy_replay.h"

namespace switchfold {

/// Fewest bytes are not fewest stalls: what the ring lacks, copies cannot run ahead. Of the optimal
/// plans that leave the ring its staging and up to as much again, in quarters, and of the optimal
/// one by GeePS's staging: that whose iteration is shortest without contention, and of equal ones
/// that which copies least. Refused where no optimal plan fits. `options.planner` is ignored.
[[nodiscard]] OffloadPlan
fastest_offload(const TensorUses& schedule, const OffloadPlanOptions& options, const CopyRates& rates);

}  // namespace switchfold
