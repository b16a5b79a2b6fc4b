// SPDX-License-Identifier: Apache-2.0
#include "sim/single_workload/single_run.h"

#include <algorithm>
#include <map>

namespace switchfold {

namespace {

/// Time of an iteration (us), per sample if the workload states samples, so that plans with
/// different step sizes can be compared.
double pace_of_step(const ExecutionGraph& graph, double iteration) {
    return graph.training.samples > 0 ? iteration / graph.training.samples : iteration;
}

}  // namespace

/// The same of a scenario, over its whole run.
double SingleRun::pace_of(std::size_t scenario, const ScenarioResult& s) const {
    constexpr double kMicrosecondsASecond = 1e6;  // per second
    if (!s.run_us)
        return pace_of_step(graph_of(scenario), s.iteration_us);
    return s.run_samples_per_s.value_or(0) > 0 ? kMicrosecondsASecond / *s.run_samples_per_s : 0;
}

/// The first without overlap.
std::optional<std::size_t> SingleRun::baseline_scenario() const {
    const auto first = std::find_if(
        scenarios().begin(), scenarios().end(), [](const ScenarioParams& s) { return !s.overlap; });
    return first == scenarios().end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(first - scenarios().begin()));
}

/// Speed-ups are relative to the pace of the first scenario without overlap, otherwise to that of
/// the hidden baseline of the first scenario, of which there is only a step. Workloads of
/// collectives only have none; loops are each relative to their own.
void SingleRun::tell_speedups(ExperimentResult& result) const {
    const std::optional<std::size_t> first = baseline_scenario();
    const std::size_t of = first.value_or(0);
    const Shared& shared = shared_by(of);
    if (!shared.prepared.has_serial() || shared.prepared.workload.loops)
        return;
    const ExecutionGraph& serial = shared.prepared.serial;
    const bool hidden = !first;
    const double baseline =
        hidden
            ? pace_of_step(
                  serial, phase_times(serial, outcomes_[shared.baseline], serial.steps).iteration)
            : pace_of(of, result.scenarios[of]);
    const bool of_run = !hidden && result.scenarios[of].run_us.has_value();
    for (std::size_t i = 0; i < result.scenarios.size(); ++i) {
        ScenarioResult& s = result.scenarios[i];
        const double pace = pace_of(i, s);
        if (pace > 0 && s.run_us.has_value() == of_run)
            s.speedup = baseline / pace;
    }
}

/// Intervals of all figures. Speed-ups are relative to what tell_speedups() and loops take.
void SingleRun::tell_intervals(ExperimentResult& result) const {
    const intervals::Residuals* residuals = intervals().residuals.get();
    std::vector<IntervalCase> cases;
    std::map<std::size_t, std::size_t> case_of;  // by simulation
    const auto case_of_run = [&](const PreparedVariant& variant, const ExecutionGraph& graph,
                                 std::size_t task) {
        const auto [at, fresh] = case_of.try_emplace(task, cases.size());
        if (fresh)
            cases.push_back(
                {parts_of_run(graph, outcomes_[task], variant.system, variant.workload)});
        return at->second;
    };
    for (std::size_t i = 0; residuals != nullptr && i < result.scenarios.size(); ++i) {
        const PreparedVariant& variant = prepared_of(i);
        ScenarioResult& s = result.scenarios[i];
        if (!variant.computes() &&
            tell_single_collective(graph_of(i), outcome_of(i), variant.system, *residuals, s))
            continue;
        IntervalCase& own = cases[case_of_run(variant, graph_of(i), planned_[i].main)];
        own.figures = &s;
        own.of_run = s.run_us.has_value();
        own.parts.open = left_open(i, s);
    }
    for (std::size_t i = 0; residuals != nullptr && i < result.scenarios.size(); ++i) {
        if (!result.scenarios[i].speedup)
            continue;
        const Shared& shared =
            shared_by(prepared_of(i).workload.loops ? i : baseline_scenario().value_or(0));
        const std::size_t baseline =
            case_of_run(shared.prepared, shared.prepared.serial, shared.baseline);
        cases[case_of.at(planned_[i].main)].baseline = baseline;
    }
    add_intervals(cases, intervals(), result);
}

}  // namespace switchfold
