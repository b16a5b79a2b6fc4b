// SPDX-License-Identifier: Apache-2.0
#include "sim/simulations.h"

#include "sim/config/rank_gpus.h"
#include "sim/pool/outcome_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

Contention contention_with(MechanismSet on) {
    Contention contention;
    for (std::size_t i = 0; i < kMechanismCount; ++i)
        contention.*kMechanisms[i].on = (on & 1U << i) != 0;
    return contention;
}

MechanismSet mechanisms_of(const SystemParams& system) {
    const Contention there = contention_of(system);
    MechanismSet set = 0;
    for (std::size_t i = 0; i < kMechanismCount; ++i)
        if (there.*kMechanisms[i].on)
            set |= 1U << i;
    return set;
}

MechanismSet unmeasured_of(const SystemParams& system) {
    return unmeasured_completions(system).empty() ? 0 : mechanism_of(&Contention::completion);
}

void note_ranges(const std::vector<const SystemParams*>& systems, std::vector<std::string>& notes) {
    std::set<std::string> gpus;
    for (const SystemParams* system : systems)
        gpus.merge(unmeasured_completions(*system));
    if (gpus.empty())
        return;
    notes.push_back(fmt::format(
        "slowdowns are ranges: how long kernels' completions wait beside communication was "
        "measured "
        "on A100 and V100, not on {}; the lower end is without that wait, and times are those of "
        "the upper end",
        fmt::join(gpus, " and ")));
}

SimulateOptions simulate_options(const Experiment& experiment, const ScenarioParams& scenario) {
    SimulateOptions options = simulate_options(experiment);
    if (experiment.functional)
        options.functional_seed = std::max<std::uint64_t>(1, experiment.seed);
    options.fault_seed = experiment.seed;
    options.communication_sms = scenario.communication_sms.value_or(0);
    return options;
}

Job simulation(
    std::string label, const SystemParams& system, const ExecutionGraph& graph,
    const CollectivePolicies& policies, const SimulateOptions& options) {
    SimulateOptions labelled = options;
    labelled.label = label;
    return {std::move(label), [&system, &graph, policies, labelled](const JobProgress& progress) {
                SimulateOptions told = labelled;
                told.progress = progress;
                const Outcome outcome = simulate(system, graph, policies, told);
                progress(1, outcome.events);
                return encode(outcome);
            }};
}

std::vector<Outcome> run_simulations(std::span<const Job> jobs, const RunOptions& options) {
    std::vector<Outcome> outcomes(jobs.size());
    const auto keep = [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        outcomes[job] = decode(result.bytes);
    };
    jobs_of(options)(jobs, keep);
    return outcomes;
}

RunJobs jobs_of(const RunOptions& options, WorkPhase phase) {
    return [&options, phase](std::span<const Job> jobs, const JobEnded& ended) {
        std::function<void(const WorkerProgress&)> told;
        if (options.progress)
            told = [&options, phase](WorkerProgress progress) {
                progress.phase = phase;
                options.progress(progress);
            };
        if (options.in_process)
            run_jobs_here(jobs, told, ended);
        else
            run_jobs(jobs, options.jobs, told, ended);
    };
}

}  // namespace switchfold
