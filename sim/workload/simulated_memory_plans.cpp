// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/simulated_memory_plans.h"

#include "core/gibibytes.h"
#include "sim/machine/simulate.h"
#include "sim/pool/value_jobs.h"
#include "sim/results/memory_over_time.h"
#include "sim/results/summary.h"
#include "sim/simulations.h"
#include "sim/workload/plan_workload.h"
#include "sim/workload/prepared_variant.h"
#include "training/memory/compare/compare_planners.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace switchfold {

namespace {

/// The experiment with only the scenario to be simulated.
Experiment one_scenario(const LoadedExperiment& loaded) {
    const std::vector<ScenarioParams>& scenarios = loaded.experiment.scenarios;
    const auto overlapped =
        std::find_if(scenarios.begin(), scenarios.end(), [](const ScenarioParams& scenario) {
            return scenario.overlap;
        });
    const auto at =
        overlapped == scenarios.end() ? 0 : std::distance(scenarios.begin(), overlapped);
    Experiment experiment = loaded.of(static_cast<std::size_t>(at));
    ScenarioParams scenario = scenarios[static_cast<std::size_t>(at)];
    scenario.set.clear();
    experiment.scenarios = {std::move(scenario)};
    experiment.causes = false;
    return experiment;
}

/// Plans copies without simulating; the refusal if the plan does not fit. Nothing if the rule
/// equals another planner's for this network.
std::optional<std::string> refusal_of(
    const Experiment& experiment, const std::filesystem::path& file, OffloadPlanner planner) {
    PlanProblems problems;
    const auto prepared = prepare_plan(
        *workload_of<TrainingWorkloadParams>(experiment), *experiment.system, file.parent_path(),
        problems);
    if (prepared && planner == OffloadPlanner::kOffloadConv &&
        !has_convolutions(prepared->memory->schedule))
        return {};
    const bool does_not_fit = problems.size() == 1 && problems.front().first == "/memory/bytes";
    return does_not_fit ? problems.front().second : "";
}

/// What a job sends back.
struct SimulatedStep {
    double seconds = 0;
    double peak_gib = 0;
};

/// The iteration that a run of the experiment's only scenario says.
SimulatedStep step_of(const LoadedExperiment& loaded) {
    const Variant whole{&loaded.experiment, {0}};
    const PreparedVariant variant = prepare_variant(loaded, whole, run_jobs_quietly);
    const ScenarioParams& scenario = loaded.experiment.scenarios.front();
    const ExecutionGraph& graph = variant.graph_of(scenario);
    const Outcome outcome = simulate(
        variant.system, graph, scenario.policies(), simulate_options(loaded.experiment, scenario));
    SimulatedStep step;
    step.seconds = phase_times(graph, outcome, graph.steps).iteration * 1e-6;
    if (const auto peak = peak_memory(graph, outcome))
        step.peak_gib = in_gibibytes(peak->bytes.all());
    return step;
}

}  // namespace

std::vector<SimulatedMemoryPlan>
simulate_memory_plans(const LoadedExperiment& loaded, const SimulatedMemoryOptions& options) {
    Experiment experiment = one_scenario(loaded);
    auto& workload = *workload_of<TrainingWorkloadParams>(experiment);
    if (!workload.plan)
        workload = with_preset(workload, 1);
    if (!workload.plan->memory)
        workload.plan->memory.emplace();
    MemoryChoiceParams& choice = *workload.plan->memory;
    static_cast<MemoryChoice&>(choice) = options.choice;
    std::vector<SimulatedMemoryPlan> plans;
    std::vector<std::size_t> of;  // plans, by job
    std::vector<Job> jobs;
    for (const std::uint64_t memory : options.memories) {
        for (const ComparedPlanner& compared : kComparedPlanners) {
            choice.planner = compared.planner;
            choice.staging = compared.staging;
            choice.bytes = Bytes(memory);
            const auto refusal = refusal_of(experiment, loaded.file, compared.planner);
            if (!refusal)
                continue;
            plans.push_back({compared.planner, compared.staging, memory, *refusal, 0, 0});
            if (!refusal->empty())
                continue;
            of.push_back(plans.size() - 1);
            jobs.push_back(
                {fmt::format(
                     "{} with {} in {}", name_of(compared.planner), name_of(compared.staging),
                     to_string(Bytes(memory))),
                 [experiment, &loaded](const JobProgress&) {
                     return value_bytes(step_of(complete_experiment(experiment, loaded.file)));
                 },
                 1});
        }
    }
    const std::vector<SimulatedStep> steps = values_of<SimulatedStep>(jobs, options.run);
    for (std::size_t job = 0; job < steps.size(); ++job) {
        plans[of[job]].seconds = steps[job].seconds;
        plans[of[job]].peak_gib = steps[job].peak_gib;
    }
    return plans;
}

}  // namespace switchfold
