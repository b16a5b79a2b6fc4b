// SPDX-License-Identifier: Apache-2.0
#include "sim/elastic/changes.h"
#include "sim/results/learning_jobs.h"
#include "sim/results/whole_runs.h"
#include "sim/single_workload/single_run.h"

#include <fmt/format.h>

namespace switchfold {

/// Trains small networks along the simulated times.
void SingleRun::learn(ExperimentResult& result) const {
    std::vector<LearningScenario> learning;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < scenarios().size(); ++i) {
        const PreparedVariant& variant = prepared_of(i);
        if (!variant.experiment->learning)
            continue;
        learning.push_back(
            {scenarios()[i].name, &*variant.experiment->learning, &variant.experiment->limits,
             variant.workload.plan.get(), &graph_of(i), &outcome_of(i),
             scenarios()[i].policies().of(CollectiveKind::kAllReduce).quantised, &variant.system});
        places.push_back(i);
    }
    if (learning.empty())
        return;
    log([&] { return fmt::format("learning along {} scenarios", learning.size()); });
    std::vector<LearningResult> learned = learn_along(
        learning, loaded().file.parent_path(), jobs_of(options(), WorkPhase::kLearning));
    for (std::size_t i = 0; i < places.size(); ++i) {
        ScenarioResult& s = result.scenarios[places[i]];
        tell_learning(learned[i], s);
        s.notes.insert(s.notes.end(), learned[i].notes.begin(), learned[i].notes.end());
        s.learning = std::move(learned[i]);
    }
}

/// Composes runs over many steps with changing members.
void SingleRun::change_members(ExperimentResult& result) const {
    std::vector<ChangeScenario> changing;
    for (std::size_t i = 0; i < scenarios().size(); ++i) {
        const PreparedVariant& variant = prepared_of(i);
        const ScenarioParams& scenario = scenarios()[i];
        if (variant.experiment->run)
            changing.push_back(
                {scenario.name, i, variant.experiment, &variant.system, scenario.policies(),
                 simulate_options(*variant.experiment, scenario), scenario.overlap});
    }
    if (changing.empty())
        return;
    log([&] { return fmt::format("runs of {} scenarios", changing.size()); });
    std::vector<ChangesResult> runs = run_changes(
        changing, loaded().file, jobs_of(options()),
        [this](std::size_t scenario, const PlanProblems& problems) {
            std::vector<Problem> told;
            for (const auto& [pointer, message] : problems)
                told.push_back(problem_of(scenario, pointer, message));
            return ConfigError(std::move(told));
        });
    for (std::size_t i = 0; i < runs.size(); ++i) {
        ScenarioResult& s = result.scenarios[changing[i].index];
        s.notes.insert(s.notes.end(), runs[i].notes.begin(), runs[i].notes.end());
        tell_run(runs[i], s);
        s.changes = std::move(runs[i]);
    }
}

}  // namespace switchfold
