// SPDX-License-Identifier: Apache-2.0
#include "sim/results/compare_ranks.h"
#include "sim/results/loops.h"
#include "sim/results/scenario_result.h"
#include "sim/single_workload/single_run.h"

#include <fmt/format.h>

#include <map>

namespace switchfold {

/// Everything except its speed-up, unless it is of loops.
ScenarioResult SingleRun::scenario_result(std::size_t scenario) const {
    const PreparedVariant& variant = prepared_of(scenario);
    const Outcome& outcome = outcome_of(scenario);
    const ExecutionGraph& graph = graph_of(scenario);
    const PhaseTimes now = phase_times(graph, outcome, graph.steps);
    ScenarioResult s = measured_scenario(graph, outcome, now);
    if (variant.workload.unequal)
        compare_ranks(graph, outcome, s);
    tell_scenario(scenarios()[scenario], s);
    if (variant.workload.report != variants_.front().prepared.workload.report)
        s.workload = variant.workload.report;
    if (variant.computes()) {
        s.kernel_classes = classes_of(scenario);
        s.worst_kernels = worst_kernels(graph, outcome, kWorstKernels);
    }
    const RunTimes times = times_of(scenario, now);
    if (variant.workload.loops)
        tell_loops(times, graph, outcome, s);
    else
        tell_slowdowns(times, s);
    if (variant.workload.peers_late)
        s.together = together_of(scenario, times.alone.backward);
    if (const auto open = left_open(scenario, s))
        if (std::string note = note_of(*open, s.iteration_us); !note.empty())
            s.notes.push_back(std::move(note));
    return s;
}

/// Times without overlap; 0 if nothing computes or nothing runs so.
PhaseTimes SingleRun::alone_of(std::size_t scenario, std::uint32_t steps) const {
    const Shared& shared = shared_by(scenario);
    if (!shared.prepared.has_serial())
        return {};
    return phase_times(shared.prepared.serial, outcomes_[shared.baseline], steps);
}

/// Graph and outcome of one of a scenario's runs for its causes.
std::pair<const ExecutionGraph&, const Outcome&>
SingleRun::run_with(std::size_t scenario, MechanismSet on) const {
    const Planned& planned = planned_[scenario];
    const std::size_t task = planned.with.at(on);
    const PreparedVariant& variant = prepared_of(scenario);
    return {task == planned.main ? variant.workload.graph : variant.start, outcomes_[task]};
}

/// Causes are measured on the repeated first steps and represent all steps.
RunTimes SingleRun::times_of(std::size_t scenario, const PhaseTimes& now) const {
    RunTimes times;
    times.alone = alone_of(scenario);
    times.now = now;
    times.overlap = scenarios()[scenario].overlap;
    if (!has_causes(scenario))
        return times;
    times.alone_first = alone_of(scenario, kCauseSteps);
    times.there = mechanisms_of(prepared_of(scenario).system);
    times.unmeasured = unmeasured_of(prepared_of(scenario).system);
    for (const auto& [on, task] : planned_[scenario].with) {
        const auto [graph, outcome] = run_with(scenario, on);
        times.with[on] = phase_times(graph, outcome, kCauseSteps);
    }
    return times;
}

std::vector<KernelClassResult> SingleRun::classes_of(std::size_t scenario) const {
    std::map<MechanismSet, std::map<std::string, ClassTime>> first;
    for (const auto& [on, task] : planned_[scenario].with) {
        const auto [graph, outcome] = run_with(scenario, on);
        first[on] = class_times(graph, outcome, kCauseSteps);
    }
    return kernel_classes(
        graph_of(scenario), outcome_of(scenario), mechanisms_of(prepared_of(scenario).system),
        first);
}

/// The scenario's result if no rank were late.
TogetherResult SingleRun::together_of(std::size_t scenario, double alone) const {
    const PhaseTimes times = phase_times(
        graph_of(scenario), outcomes_[planned_[scenario].together], graph_of(scenario).steps);
    TogetherResult together{times.iteration, times.exposed, std::nullopt};
    if (alone > 0)
        together.backward_slowdown = times.backward / alone - 1.0;
    return together;
}

/// What is open of a scenario without overlap where one rank stands for all.
std::optional<OpenTime> SingleRun::left_open(std::size_t scenario, const ScenarioResult& s) const {
    const std::optional<OneRankTimes>& traced = prepared_of(scenario).workload.one_rank;
    if (!traced || s.overlap || !(s.iteration_us > 0))
        return std::nullopt;
    return left_open_by_one_rank(s, *traced);
}

/// Of scenarios whose causes were asked for.
std::vector<ScenarioCauses>
SingleRun::kernel_causes(const std::vector<RanScenario>& scenarios) const {
    std::vector<ScenarioCauses> all;
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
        if (!has_causes(i))
            continue;
        ScenarioCauses causes{scenarios[i], mechanisms_of(prepared_of(i).system), {}, kCauseSteps};
        for (const auto& [on, task] : planned_[i].with)
            causes.with[on] = &run_with(i, on).second;
        all.push_back(std::move(causes));
    }
    return all;
}

/// The report of the first variant, with what reading, leaving out and causes have to say.
void SingleRun::tell_workload(ExperimentResult& result) const {
    const PreparedVariant& first = variants_.front().prepared;
    result.workload = first.workload.report;
    std::vector<std::string>& notes = result.workload.notes;
    notes.insert(notes.begin(), loaded().notes.begin(), loaded().notes.end());
    notes.insert(notes.end(), left_out_notes_.begin(), left_out_notes_.end());
    if (first.computes() && first.experiment->causes && first.workload.graph.steps > kCauseSteps)
        notes.push_back(fmt::format(
            "causes were measured on the first {} of {} steps", kCauseSteps,
            first.workload.graph.steps));
    std::vector<const SystemParams*> explained;
    for (std::size_t i = 0; i < scenarios().size(); ++i)
        if (has_causes(i))
            explained.push_back(&prepared_of(i).system);
    note_ranges(explained, notes);
}

}  // namespace switchfold
