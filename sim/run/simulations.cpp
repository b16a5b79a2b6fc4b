// SPDX-License-Identifier: Apache-2.0
#include "sim/run/simulations.h"

#include "sim/run/pool/outcome_codec.h"
#include "sim/run/results/causes.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace switchfold {

Contention without(std::size_t mechanism) {
    Contention contention;
    if (mechanism < kMechanismCount)
        contention.*kMechanisms[mechanism].on = false;
    return contention;
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
    std::string label,
    const SystemParams& system,
    const ExecutionGraph& graph,
    const CollectivePolicies& policies,
    const SimulateOptions& options) {
    return {std::move(label), [&system, &graph, policies, options](const JobProgress& progress) {
                SimulateOptions told = options;
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
    if (options.in_process)
        run_jobs_here(jobs, options.progress, keep);
    else
        run_jobs(jobs, options.jobs, options.progress, keep);
    return outcomes;
}

JobProgress preparing(const RunOptions& options) {
    if (!options.progress)
        return {};
    const auto begin = std::chrono::steady_clock::now();
    return [&options, begin](double share, std::uint64_t events) {
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        options.progress({share, events, elapsed.count(), true});
    };
}

}  // namespace switchfold
