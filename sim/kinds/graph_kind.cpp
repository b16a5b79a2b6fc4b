// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/graph_kind.h"

#include "sim/kinds/gpu_checks.h"
#include "sim/single_workload.h"

namespace switchfold {

void GraphKind::check(const Experiment& experiment, ParamChecker& checker) const {
    check_on_gpus(experiment, checker);
}

ExperimentResult GraphKind::run(const LoadedExperiment& loaded, const RunOptions& options) const {
    return run_single_workload(loaded, options);
}

}  // namespace switchfold
