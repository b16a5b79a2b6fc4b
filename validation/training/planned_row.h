// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/intervals/likeness.h"
#include "sim/pool/progress.h"
#include "training/plan/step/plan_step.h"
#include "validation/training/step_rows.h"

#include <memory>

namespace switchfold::validation {

/// A row with its machine, ready to run.
struct PlannedStepRow {
    const StepRow* row = nullptr;
    std::shared_ptr<const SystemParams> system;
    std::shared_ptr<const TrainingStep> step;
};

[[nodiscard]] PlannedStepRow planned_row(const StepRow& row, const SystemParams& system);

/// What is like the time of a generated training step.
[[nodiscard]] intervals::Likeness step_likeness(const StepRow& row, const SystemParams& system);

/// About what its simulation takes, against others'.
[[nodiscard]] double work_of(const PlannedStepRow& planned);

/// Seconds of a step, simulated in this process; folded if `fold` is set.
[[nodiscard]] double
simulated_seconds(const PlannedStepRow& planned, bool fold, const JobProgress& progress);

}  // namespace switchfold::validation
