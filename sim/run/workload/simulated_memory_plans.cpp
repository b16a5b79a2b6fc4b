// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/simulated_memory_plans.h"

#include "sim/core/gibibytes.h"
#include "sim/run/runner.h"
#include "sim/run/workload/plan_workload.h"
#include "workloads/memory/compare/compare_planners.h"

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
std::optional<std::string>
refusal_of(const Experiment& experiment, const std::filesystem::path& file, PinPlanner planner) {
    PlanProblems problems;
    const auto prepared = prepare_plan(
        std::get<TrainingWorkloadParams>(*experiment.workload),
        *experiment.system,
        file.parent_path(),
        problems);
    if (prepared && planner == PinPlanner::kOffloadConv &&
        !has_convolutions(prepared->memory->schedule))
        return {};
    const bool does_not_fit = problems.size() == 1 && problems.front().first == "/memory/bytes";
    return does_not_fit ? problems.front().second : "";
}

void simulate(
    const Experiment& experiment, const std::filesystem::path& file, SimulatedMemoryPlan& plan) {
    RunOptions options;
    options.in_process = true;
    const ExperimentResult result = run_experiment(complete_experiment(experiment, file), options);
    const ScenarioResult& scenario = result.scenarios.front();
    plan.seconds = scenario.iteration_us * 1e-6;
    if (scenario.peak_memory)
        plan.peak_gib = in_gibibytes(scenario.peak_memory->bytes.all());
}

}  // namespace

std::vector<SimulatedMemoryPlan>
simulate_memory_plans(const LoadedExperiment& loaded, const SimulatedMemoryOptions& options) {
    Experiment experiment = one_scenario(loaded);
    auto& workload = std::get<TrainingWorkloadParams>(*experiment.workload);
    if (!workload.plan)
        workload.plan.emplace().micro_batch = workload.batch;
    if (!workload.plan->memory)
        workload.plan->memory.emplace();
    MemoryChoiceParams& choice = *workload.plan->memory;
    choice.updates = options.updates;
    choice.granule = Bytes(options.granule);
    std::vector<SimulatedMemoryPlan> plans;
    for (const std::uint64_t memory : options.memories) {
        for (const ComparedPlanner& compared : kComparedPlanners) {
            SimulatedMemoryPlan& plan = plans.emplace_back();
            plan.planner = choice.planner = compared.planner;
            plan.staging = choice.staging = compared.staging;
            plan.memory = memory;
            choice.bytes = Bytes(memory);
            if (options.before)
                options.before(plan);
            const auto refusal = refusal_of(experiment, loaded.file, compared.planner);
            if (!refusal) {
                plans.pop_back();
                continue;
            }
            plan.refusal = *refusal;
            if (plan.refusal.empty())
                simulate(experiment, loaded.file, plan);
        }
    }
    return plans;
}

}  // namespace switchfold
