// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/changes_result.h"
#include "sim/output/learning_result.h"
#include "sim/output/scenario_figures.h"

namespace switchfold {

/// Sets the figures of a run in which members come and go. Samples per second and arithmetic become
/// those of the whole run; `figures` has those of a step of the first members before.
void tell_run(const ChangesResult& run, ScenarioFigures& figures);

/// Sets the figures of the small network. Where replicas average, times that averages change become
/// means over the training; `figures` has those of a step with an exchange before.
void tell_learning(const LearningResult& learning, ScenarioFigures& figures);

}  // namespace switchfold
