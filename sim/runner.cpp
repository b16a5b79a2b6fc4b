// SPDX-License-Identifier: Apache-2.0
#include "sim/runner.h"

#include "core/error.h"
#include "sim/kinds/kinds.h"

namespace switchfold {

ExperimentResult run_experiment(const LoadedExperiment& loaded, const RunOptions& options) {
    SWITCHFOLD_CHECK(
        options.probes.empty() || options.in_process, "a probe would watch from another process");
    const WorkloadKind& kind = kind_of(loaded.experiment);
    if (options.rank_timelines && !kind.facts().has_rank_timelines)
        throw ConfigError(
            "--rank-timelines", "",
            "is for one workload on GPUs; expected --timeline for several workloads and for "
            "many-core processors");
    return kind.run(loaded, options);
}

}  // namespace switchfold
