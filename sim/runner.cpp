// SPDX-License-Identifier: Apache-2.0
#include "sim/runner.h"

#include "core/error.h"
#include "sim/kinds/kinds.h"
#include "sim/output/result_tables.h"

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

std::string to_table(const ExperimentResult& result) {
    const WorkloadKind* const kind = kind_named(result.workload.type);
    return result_heading(result, kind == nullptr || kind->facts().has_ranks) +
           (kind == nullptr ? step_tables(result) : kind->tables(result)) + basis_lines(result) +
           note_lines(result);
}

}  // namespace switchfold
