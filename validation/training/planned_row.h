// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/intervals/likeness.h"
#include "training/plan/step/plan_step.h"
#include "validation/harness/suite.h"
#include "validation/training/step_rows.h"

#include <memory>
#include <vector>

namespace switchfold::validation {

/// A row with its machine, ready to run.
struct PlannedStepRow {
    const StepRow* row = nullptr;
    std::shared_ptr<const SystemParams> system;
    std::shared_ptr<const PlannedStep> step;
    bool fold = false;
};

[[nodiscard]] PlannedStepRow planned_row(const StepRow& row, const SystemParams& system);

/// What is like the time of a generated training step.
[[nodiscard]] intervals::Likeness step_likeness(const StepRow& row, const SystemParams& system);

/// Seconds of each row's step, simulated. Folded rows of one machine that divide one network alike
/// differ in their batches: they are one job, in which collectives that several of them measure are
/// simulated once.
[[nodiscard]] std::vector<double>
simulated_steps(const std::vector<PlannedStepRow>& rows, const SuiteOptions& options);

}  // namespace switchfold::validation
