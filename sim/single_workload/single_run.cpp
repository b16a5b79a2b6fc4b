// SPDX-License-Identifier: Apache-2.0
#include "sim/single_workload/single_run.h"

#include "core/error.h"
#include "sim/config/rank_gpus.h"
#include "sim/results/rank_timelines.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

void SingleRun::simulate() {
    prepare();
    leave_out_scenarios();
    plan();
    log([&] {
        return fmt::format(
            "simulating {} scenarios in {} runs, {} at a time", scenarios().size(), jobs(),
            options().jobs);
    });
    outcomes_ = outcomes();
}

void SingleRun::prepare() {
    const std::vector<Variant> variants = variants_of(loaded_);
    variant_of_.assign(scenarios().size(), 0);
    BuiltWorkloads built;
    for (std::size_t v = 0; v < variants.size(); ++v) {
        variants_.push_back({prepare_variant(
            loaded_, variants[v], jobs_of(options(), WorkPhase::kPreparing), &built)});
        for (const std::size_t scenario : variants[v].scenarios)
            variant_of_[scenario] = v;
        const PreparedWorkload& workload = variants_.back().prepared.workload;
        log([&] {
            std::size_t operations = 0;
            for (const auto& rank : workload.graph.ranks)
                operations += rank->operations.size();
            return fmt::format(
                "workload {}: {} ranks, {} operations, {} steps", workload.report.source,
                workload.graph.ranks.size(), operations, workload.graph.steps);
        });
    }
}

/// Default scenarios that the machine cannot run (they set nothing; only those of a folded workload
/// and of loops have separate graphs), and scenarios without overlap that deadlock.
std::set<std::string> SingleRun::scenarios_to_leave_out() {
    std::set<std::string> left_out;
    for (const Shared& shared : variants_)
        left_out.insert(
            shared.prepared.workload.left_out.begin(), shared.prepared.workload.left_out.end());
    for (std::size_t i = 0; i < scenarios().size(); ++i) {
        const ScenarioParams& scenario = scenarios()[i];
        if (prepared_of(i).can_run(scenario))
            continue;
        left_out.insert(scenario.name);
        left_out_notes_.push_back(
            fmt::format("{} was left out: {}", scenario.name, prepared_of(i).no_serial));
    }
    return left_out;
}

/// The notes of what goes stay with what remains.
void SingleRun::leave_out_scenarios() {
    const std::set<std::string> left_out = scenarios_to_leave_out();
    if (left_out.empty())
        return;
    if (left_out.size() == scenarios().size())
        throw SimulationError("every scenario", Time(), left_out_notes_.front());
    std::vector<std::size_t> variant_of;
    std::vector<std::size_t> moved(variants_.size(), SIZE_MAX);
    std::vector<std::string> notes;
    for (const Shared& shared : variants_)
        for (const std::string& note : shared.prepared.workload.report.notes)
            if (std::find(notes.begin(), notes.end(), note) == notes.end())
                notes.push_back(note);
    std::deque<Shared> kept;
    for (std::size_t i = 0; i < scenarios().size(); ++i) {
        if (left_out.contains(scenarios()[i].name))
            continue;
        std::size_t& at = moved[variant_of_[i]];
        if (at == SIZE_MAX) {
            at = kept.size();
            kept.push_back(std::move(variants_[variant_of_[i]]));
        }
        variant_of.push_back(at);
    }
    variants_ = std::move(kept);
    for (Shared& shared : variants_)
        shared.prepared.workload.report.notes = notes;
    variant_of_ = std::move(variant_of);
    leave_out(loaded_, left_out);
}

/// Runs for causes are of the first steps.
std::size_t SingleRun::add_run(
    const PreparedVariant& variant, const ScenarioParams& scenario, const RunAs& as) {
    const ExecutionGraph& graph =
        as.on == kAllMechanisms ? variant.graph_of(scenario) : variant.start;
    return add(scenario.name, *variant.experiment, variant.system, scenario, graph, as);
}

/// Long runs first, so that short ones fill the cores at the end.
void SingleRun::plan() {
    std::vector<const ExecutionGraph*> graphs;
    for (std::size_t i = 0; i < scenarios().size(); ++i)
        graphs.push_back(&graph_of(i));
    explore(graphs);
    for (std::size_t i = 0; i < scenarios().size(); ++i)
        planned_.emplace_back().main =
            add_run(prepared_of(i), scenarios()[i], {.watched = true, .probes = options().probes});
    for (std::size_t i = 0; i < scenarios().size(); ++i)
        planned_[i].together = prepared_of(i).workload.peers_late
                                   ? add_run(prepared_of(i), scenarios()[i], {.together = true})
                                   : planned_[i].main;
    for (std::size_t i = 0; i < scenarios().size(); ++i) {
        const PreparedVariant& variant = prepared_of(i);
        if (!scenarios()[i].overlap || !variant.computes() || !variant.experiment->causes)
            continue;
        for (const MechanismSet on : cause_runs(mechanisms_of(variant.system)))
            planned_[i].with[on] = on == kAllMechanisms
                                       ? planned_[i].main
                                       : add_run(variant, scenarios()[i], {.on = on});
    }
    plan_baselines();
}

/// Slowdown is relative to the same machine and workload without overlap; if no scenario provides
/// it, a hidden one is added as the baseline, unless the workload cannot run so.
void SingleRun::plan_baselines() {
    for (std::size_t v = 0; v < variants_.size(); ++v) {
        Shared& shared = variants_[v];
        for (std::size_t i = scenarios().size(); i-- > 0;)
            if (variant_of_[i] == v && !scenarios()[i].overlap)
                shared.baseline = planned_[i].main;
        if (shared.baseline == SIZE_MAX && shared.prepared.has_serial())
            shared.baseline = add_run(shared.prepared, without_overlap_of(v), {});
    }
}

/// Loops tell what a collective takes alone, so theirs runs as in their scenario, but shares no
/// SMs out: a kernel alone has all of them.
ScenarioParams SingleRun::without_overlap_of(std::size_t variant) const {
    ScenarioParams serial{"no overlap", false, ring_policy()};
    if (!variants_[variant].prepared.workload.loops)
        return serial;
    const auto of = std::find(variant_of_.begin(), variant_of_.end(), variant);
    serial.collectives = scenarios()[static_cast<std::size_t>(of - variant_of_.begin())].policies();
    return serial;
}

void SingleRun::tell(ExperimentResult& result) const {
    tell_workload(result);
    for (std::size_t i = 0; i < scenarios().size(); ++i)
        result.scenarios.push_back(scenario_result(i));
    for (const Outcome& outcome : outcomes_)
        result.host.events += outcome.events;
    learn(result);
    change_members(result);
    tell_speedups(result);
    tell_intervals(result);
}

void SingleRun::write(ResultFolder& folder, const ExperimentResult& result) const {
    std::vector<RanScenario> rows;
    std::vector<RanMachine> machines;
    for (std::size_t i = 0; i < scenarios().size(); ++i) {
        rows.push_back({scenarios()[i].name, graph_of(i), outcome_of(i)});
        machines.push_back({rows.back(), prepared_of(i).system});
    }
    write_graphs(folder, rows, machines);
    write_learning(folder, result);
    write_changes(folder, result);
    if (is_explored())
        write_kernel_causes(folder, kernel_causes(rows));
    if (options().rank_timelines) {
        const RankGpus gpus(machines.front().system);
        write_rank_timelines(
            folder, rows, [&](std::uint32_t rank) -> const GpuParams& { return gpus.of(rank); });
    }
}

}  // namespace switchfold
