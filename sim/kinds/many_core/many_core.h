// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/experiment_run.h"

#include <memory>

namespace switchfold {

/// The run of an experiment on a many-core coprocessor or its host.
[[nodiscard]] std::unique_ptr<ExperimentRun>
many_core_run(const LoadedExperiment& loaded, const RunOptions& options);

}  // namespace switchfold
