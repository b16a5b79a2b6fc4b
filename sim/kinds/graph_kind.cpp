// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/graph_kind.h"

#include "sim/kinds/gpu_checks.h"
#include "sim/single_workload/single_run.h"

namespace switchfold {

void GraphKind::check(const Experiment& experiment, ParamChecker& checker) const {
    check_on_gpus(experiment, checker);
}

std::unique_ptr<ExperimentRun>
GraphKind::start(const LoadedExperiment& loaded, const RunOptions& options) const {
    return std::make_unique<SingleRun>(loaded, options);
}

}  // namespace switchfold
