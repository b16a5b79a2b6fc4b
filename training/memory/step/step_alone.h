// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/copies/copy_replay.h"
#include "training/memory/step/step_memory.h"
#include "workloads/graph/schedule.h"

#include <optional>

namespace switchfold {

/// The first rank's step without contention: kernels take their isolated time, copies run at the
/// given rates, and each collective takes `collective`.
[[nodiscard]] Schedule
step_alone(const ExecutionGraph& graph, const CopyRates& rates, Time collective = Time());

struct ComparedUpdates {
    Time planned;
    Time batch;  ///< the same with updates behind the backward pass
};

/// Where data travel, a step with updates within the backward pass may take longer than batch's: a
/// weight gradient waits for the update before it, which waits for moments, and copies of moments
/// hold up those of activations. Nothing if nothing travels, if updates are batch's anyway or the
/// host's, if batch does not fit, or with several ranks, which wait for each other.
[[nodiscard]] std::optional<ComparedUpdates>
compare_with_batch(const TrainingStep& step, const StepMemory& planned);

}  // namespace switchfold
