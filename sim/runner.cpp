// SPDX-License-Identifier: Apache-2.0
#include "sim/runner.h"

#include "core/error.h"
#include "sim/many_core/many_core.h"
#include "sim/shared_machine/shared_machine.h"
#include "sim/single_workload.h"

namespace switchfold {

ExperimentResult run_experiment(const LoadedExperiment& loaded, const RunOptions& options) {
    SWITCHFOLD_CHECK(
        options.probes.empty() || options.in_process, "a probe would watch from another process");
    const bool many_core = workload_of<ManyCoreParams>(loaded.experiment) != nullptr;
    if (options.rank_timelines && (many_core || !loaded.experiment.workloads.empty()))
        throw ConfigError(
            "--rank-timelines", "",
            "is for one workload on GPUs; expected --timeline for several workloads and for "
            "many-core processors");
    if (many_core)
        return run_many_core(loaded, options);
    if (!loaded.experiment.workloads.empty())
        return run_shared_machine(loaded, options);
    return run_single_workload(loaded, options);
}

}  // namespace switchfold
