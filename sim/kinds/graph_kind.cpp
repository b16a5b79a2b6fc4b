// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/graph_kind.h"

#include "sim/kinds/gpu_checks.h"
#include "sim/single_workload/single_run.h"
#include "sim/workload/folded_workload.h"
#include "sim/workload/workload.h"

namespace switchfold {

void GraphKind::check(const Experiment& experiment, ParamChecker& checker) const {
    check_on_gpus(experiment, checker);
}

std::unique_ptr<ExperimentRun>
GraphKind::start(const LoadedExperiment& loaded, const RunOptions& options) const {
    return std::make_unique<SingleRun>(loaded, options);
}

void GraphKind::measure(
    PreparedWorkload& workload, const SystemParams& system, const ScenarioParams& scenario,
    const SimulateOptions& options, const RunJobs& run) const {
    if (workload.folded)
        workload.graph =
            measured_graph_apart(*workload.folded, system, scenario.policies(), options, run);
}

}  // namespace switchfold
