// SPDX-License-Identifier: Apache-2.0
#include "sim/runner.h"

#include "core/error.h"
#include "core/version.h"
#include "sim/experiment_run.h"
#include "sim/kinds/kinds.h"
#include "sim/output/result_tables.h"
#include "sim/results/host_clock.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

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
    const std::unique_ptr<ExperimentRun> run = kind.start(loaded, options);
    const HostClock clock;
    // Created before the long work, so that an unwritable folder is noticed at once.
    std::optional<ResultFolder> folder;
    if (options.out)
        folder.emplace(*options.out);
    run->simulate();
    ExperimentResult result;
    result.experiment = run->loaded().experiment.name;
    result.version = version();
    result.config_digest = run->loaded().digest;
    result.effective_config = run->loaded().effective_config;
    run->tell(result);
    const auto log = [&](const std::string& text) {
        if (options.log)
            options.log(text);
    };
    log(fmt::format("simulated {} events", result.host.events));
    clock.tell(result.host);
    if (!folder)
        return result;
    folder->write("effective-config.json", result.effective_config);
    run->write(*folder, result);
    folder->write("result.json", to_result_json(result));
    folder->commit();
    log(fmt::format("wrote {}", options.out->string()));
    return result;
}

std::string to_table(const ExperimentResult& result) {
    const WorkloadKind* const kind = kind_named(result.workload.type);
    return result_heading(result, kind == nullptr || kind->facts().has_ranks) +
           (kind == nullptr ? step_tables(result) : kind->tables(result)) + basis_lines(result) +
           note_lines(result);
}

}  // namespace switchfold
