// SPDX-License-Identifier: Apache-2.0
#include "sim/single_workload.h"

#include "core/error.h"
#include "core/version.h"
#include "sim/config/rank_gpus.h"
#include "sim/config/scenario_set.h"
#include "sim/elastic/changes.h"
#include "sim/output/writers.h"
#include "sim/pool/pool.h"
#include "sim/results/causes.h"
#include "sim/results/compare_ranks.h"
#include "sim/results/explorer_files.h"
#include "sim/results/host_clock.h"
#include "sim/results/kernel_causes.h"
#include "sim/results/learning_jobs.h"
#include "sim/results/loops.h"
#include "sim/results/rank_timelines.h"
#include "sim/results/run_files.h"
#include "sim/results/scenario_result.h"
#include "sim/results/slowdowns.h"
#include "sim/results/summary.h"
#include "sim/results/whole_runs.h"
#include "sim/simulations.h"
#include "sim/uncertainty/own_residuals.h"
#include "sim/uncertainty/run_intervals.h"
#include "sim/workload/prepared_variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace switchfold {

namespace {

class Runner {
public:
    Runner(const LoadedExperiment& loaded, const RunOptions& options) :
        loaded_(loaded),
        experiment_(loaded_.experiment),
        options_(options),
        intervals_(with_own_residuals(options.intervals, experiment_.system.path)) {}

    ExperimentResult run() {
        const HostClock clock;
        // Created before the long work, so that an unwritable folder is noticed at once.
        std::optional<ResultFolder> folder;
        if (options_.out)
            folder.emplace(*options_.out);
        prepare();
        plan();
        log([&] {
            return fmt::format(
                "simulating {} scenarios in {} runs, {} at a time", experiment_.scenarios.size(),
                jobs_.size(), options_.jobs);
        });
        outcomes_ = run_simulations(jobs_, options_);
        ExperimentResult result = summarise();
        learn(result);
        change_members(result);
        tell_speedups(result);
        tell_intervals(result);
        log([&] { return fmt::format("simulated {} events", result.host.events); });
        clock.tell(result.host);
        if (folder)
            write(*folder, result);
        return result;
    }

private:
    /// The text is computed only if logging is enabled.
    template <class Text>
    void log(Text text) const {
        if (options_.log)
            options_.log(text());
    }
    void log_workload(const PreparedWorkload& workload) const {
        log([&] {
            std::size_t operations = 0;
            for (const auto& rank : workload.graph.ranks)
                operations += rank->operations.size();
            return fmt::format(
                "workload {}: {} ranks, {} operations, {} steps", workload.report.source,
                workload.graph.ranks.size(), operations, workload.graph.steps);
        });
    }

    /// Prepares what each scenario runs; without `set`, all share one.
    void prepare() {
        const std::vector<Variant> variants = variants_of(loaded_);
        variant_of_.assign(experiment_.scenarios.size(), 0);
        for (std::size_t v = 0; v < variants.size(); ++v) {
            variants_.push_back(
                {prepare_variant(loaded_, variants[v], jobs_of(options_, WorkPhase::kPreparing))});
            for (const std::size_t scenario : variants[v].scenarios)
                variant_of_[scenario] = v;
            log_workload(variants_.back().prepared.workload);
        }
        leave_out_scenarios();
    }

    /// Removes default scenarios that the machine cannot run (they set nothing; only those of a
    /// folded plan and of loops have separate graphs, whose notes then go to all), and scenarios
    /// without overlap that deadlock.
    void leave_out_scenarios() {
        std::set<std::string> left_out;
        for (const Shared& shared : variants_)
            left_out.insert(
                shared.prepared.workload.left_out.begin(), shared.prepared.workload.left_out.end());
        for (std::size_t i = 0; i < experiment_.scenarios.size(); ++i) {
            const ScenarioParams& scenario = experiment_.scenarios[i];
            if (prepared_of(i).can_run(scenario))
                continue;
            left_out.insert(scenario.name);
            left_out_notes_.push_back(
                fmt::format("{} was left out: {}", scenario.name, prepared_of(i).no_serial));
        }
        if (left_out.empty())
            return;
        if (left_out.size() == experiment_.scenarios.size())
            throw SimulationError("every scenario", Time(), left_out_notes_.front());
        std::vector<std::size_t> variant_of;
        std::vector<std::size_t> moved(variants_.size(), SIZE_MAX);
        std::vector<std::string> notes;
        for (const Shared& shared : variants_)
            for (const std::string& note : shared.prepared.workload.report.notes)
                if (std::find(notes.begin(), notes.end(), note) == notes.end())
                    notes.push_back(note);
        std::deque<Shared> kept;
        for (std::size_t i = 0; i < experiment_.scenarios.size(); ++i) {
            if (left_out.contains(experiment_.scenarios[i].name))
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

    struct Planned {
        std::size_t main = 0;
        std::size_t together = 0;  ///< no rank late; equals main if none is late anyway
        /// By the mechanisms that are on; empty if causes are not requested.
        std::map<MechanismSet, std::size_t> with;
    };

    /// A variant of the experiment, and its run without overlap.
    struct Shared {
        PreparedVariant prepared;
        std::size_t baseline = SIZE_MAX;
    };
    [[nodiscard]] const Shared& shared_by(std::size_t scenario) const {
        return variants_[variant_of_[scenario]];
    }
    [[nodiscard]] const PreparedVariant& prepared_of(std::size_t scenario) const {
        return shared_by(scenario).prepared;
    }

    /// Adds a run of the scenario with some mechanisms on.
    std::size_t
    add(const PreparedVariant& variant, const ScenarioParams& scenario, MechanismSet on,
        bool watched, bool together = false, std::vector<Probe*> probes = {}) {
        SimulateOptions options = simulate_options(*variant.experiment, scenario);
        options.contention = contention_with(on);
        options.counters = watched && options_.timeline;
        options.loads = watched && explored_;
        options.peers_together = together;
        options.probes = std::move(probes);
        const ExecutionGraph& graph =
            on == kAllMechanisms ? variant.graph_of(scenario) : variant.start;
        jobs_.push_back(
            simulation(scenario.name, variant.system, graph, scenario.policies(), options));
        return jobs_.size() - 1;
    }

    /// Trains small networks along the simulated times.
    void learn(ExperimentResult& result) const {
        std::vector<LearningScenario> scenarios;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < experiment_.scenarios.size(); ++i) {
            const PreparedVariant& variant = prepared_of(i);
            if (!variant.experiment->learning)
                continue;
            scenarios.push_back(
                {experiment_.scenarios[i].name, &*variant.experiment->learning,
                 &variant.experiment->limits, variant.workload.plan.get(), &graph_of(i),
                 &outcomes_[planned_[i].main],
                 experiment_.scenarios[i].policies().of(CollectiveKind::kAllReduce).quantised,
                 &variant.system});
            places.push_back(i);
        }
        if (scenarios.empty())
            return;
        log([&] { return fmt::format("learning along {} scenarios", scenarios.size()); });
        std::vector<LearningResult> learned = learn_along(
            scenarios, loaded_.file.parent_path(), jobs_of(options_, WorkPhase::kLearning));
        for (std::size_t i = 0; i < places.size(); ++i) {
            ScenarioResult& s = result.scenarios[places[i]];
            tell_learning(learned[i], s);
            s.notes.insert(s.notes.end(), learned[i].notes.begin(), learned[i].notes.end());
            s.learning = std::move(learned[i]);
        }
    }

    /// Composes runs over many steps with changing members.
    void change_members(ExperimentResult& result) const {
        std::vector<ChangeScenario> scenarios;
        for (std::size_t i = 0; i < experiment_.scenarios.size(); ++i) {
            const PreparedVariant& variant = prepared_of(i);
            const ScenarioParams& scenario = experiment_.scenarios[i];
            if (variant.experiment->run)
                scenarios.push_back(
                    {scenario.name, i, variant.experiment, &variant.system, scenario.policies(),
                     simulate_options(*variant.experiment, scenario), scenario.overlap});
        }
        if (scenarios.empty())
            return;
        log([&] { return fmt::format("runs of {} scenarios", scenarios.size()); });
        std::vector<ChangesResult> runs = run_changes(
            scenarios, loaded_.file, jobs_of(options_),
            [this](std::size_t scenario, const PlanProblems& problems) {
                std::vector<Problem> told;
                const std::string file = loaded_.file.string();
                const bool own = &loaded_.of(scenario) != &loaded_.experiment;
                for (const auto& [pointer, message] : problems) {
                    const Problem problem{file, pointer, message};
                    told.push_back(
                        own ? blamed_on_set(
                                  problem, file, experiment_.scenarios[scenario].set, scenario)
                            : problem);
                }
                return ConfigError(std::move(told));
            });
        for (std::size_t i = 0; i < runs.size(); ++i) {
            ScenarioResult& s = result.scenarios[scenarios[i].index];
            s.notes.insert(s.notes.end(), runs[i].notes.begin(), runs[i].notes.end());
            tell_run(runs[i], s);
            s.changes = std::move(runs[i]);
        }
    }

    [[nodiscard]] const ExecutionGraph& graph_of(std::size_t scenario) const {
        return prepared_of(scenario).graph_of(experiment_.scenarios[scenario]);
    }

    void plan() {
        const auto& scenarios = experiment_.scenarios;
        std::size_t operations = 0;
        for (std::size_t i = 0; i < scenarios.size(); ++i)
            operations += operations_of(graph_of(i));
        explored_ = options_.out && explored(options_.timeline, operations);
        // Long runs first, so that short ones fill the cores at the end.
        for (std::size_t i = 0; i < scenarios.size(); ++i) {
            planned_.emplace_back();
            planned_.back().main =
                add(prepared_of(i), scenarios[i], kAllMechanisms, true, false, options_.probes);
        }
        for (std::size_t i = 0; i < scenarios.size(); ++i)
            planned_[i].together =
                prepared_of(i).workload.peers_late
                    ? add(prepared_of(i), scenarios[i], kAllMechanisms, false, true)
                    : planned_[i].main;
        for (std::size_t i = 0; i < scenarios.size(); ++i) {
            const PreparedVariant& variant = prepared_of(i);
            if (!scenarios[i].overlap || !variant.computes() || !variant.experiment->causes)
                continue;
            for (const MechanismSet on : cause_runs(mechanisms_of(variant.system)))
                planned_[i].with[on] =
                    on == kAllMechanisms ? planned_[i].main : add(variant, scenarios[i], on, false);
        }
        plan_baselines();
    }

    /// Slowdown is relative to the same machine and workload without overlap; if no scenario
    /// provides it, a hidden one is added as the baseline, unless the workload cannot run so.
    void plan_baselines() {
        const auto& scenarios = experiment_.scenarios;
        for (std::size_t v = 0; v < variants_.size(); ++v) {
            Shared& shared = variants_[v];
            for (std::size_t i = scenarios.size(); i-- > 0;)
                if (variant_of_[i] == v && !scenarios[i].overlap)
                    shared.baseline = planned_[i].main;
            if (shared.baseline == SIZE_MAX && shared.prepared.has_serial())
                shared.baseline =
                    add(shared.prepared, without_overlap_of(v), kAllMechanisms, false);
        }
    }

    /// Loops tell what a collective takes alone, so theirs runs as in their scenario, but shares no
    /// SMs out: a kernel alone has all of them.
    [[nodiscard]] ScenarioParams without_overlap_of(std::size_t variant) const {
        ScenarioParams serial{"no overlap", false, ring_policy()};
        if (!variants_[variant].prepared.workload.loops)
            return serial;
        const auto of = std::find(variant_of_.begin(), variant_of_.end(), variant);
        const ScenarioParams& scenario =
            experiment_.scenarios[static_cast<std::size_t>(of - variant_of_.begin())];
        serial.collectives = scenario.policies();
        return serial;
    }

    /// Time of an iteration (us), per sample if the workload states samples, so that plans with
    /// different step sizes can be compared.
    [[nodiscard]] static double pace_of(const ExecutionGraph& graph, double iteration) {
        return graph.training.samples > 0 ? iteration / graph.training.samples : iteration;
    }
    /// The same of a scenario, over its whole run.
    [[nodiscard]] double pace_of(std::size_t i, const ScenarioResult& s) const {
        constexpr double kMicrosecondsASecond = 1e6;  // per second
        if (!s.run_us)
            return pace_of(graph_of(i), s.iteration_us);
        return s.run_samples_per_s.value_or(0) > 0 ? kMicrosecondsASecond / *s.run_samples_per_s
                                                   : 0;
    }

    /// The first without overlap.
    [[nodiscard]] std::optional<std::size_t> baseline_scenario() const {
        const auto& scenarios = experiment_.scenarios;
        const auto first = std::find_if(
            scenarios.begin(), scenarios.end(), [](const ScenarioParams& s) { return !s.overlap; });
        return first == scenarios.end()
                   ? std::nullopt
                   : std::optional(static_cast<std::size_t>(first - scenarios.begin()));
    }

    /// Speed-ups are relative to the pace of the first scenario without overlap, otherwise to that
    /// of the hidden baseline of the first scenario, of which there is only a step. Workloads of
    /// collectives only have none; loops are each relative to their own.
    void tell_speedups(ExperimentResult& result) const {
        const std::optional<std::size_t> first = baseline_scenario();
        const std::size_t of = first.value_or(0);
        const Shared& shared = shared_by(of);
        if (!shared.prepared.has_serial() || shared.prepared.workload.loops)
            return;
        const ExecutionGraph& serial = shared.prepared.serial;
        const bool hidden = !first;
        const double baseline =
            hidden ? pace_of(
                         serial,
                         phase_times(serial, outcomes_[shared.baseline], serial.steps).iteration)
                   : pace_of(of, result.scenarios[of]);
        const bool of_run = !hidden && result.scenarios[of].run_us.has_value();
        for (std::size_t i = 0; i < result.scenarios.size(); ++i) {
            ScenarioResult& s = result.scenarios[i];
            const double pace = pace_of(i, s);
            if (pace > 0 && s.run_us.has_value() == of_run)
                s.speedup = baseline / pace;
        }
    }

    /// What is open of a scenario without overlap where one rank stands for all.
    [[nodiscard]] std::optional<OpenTime> left_open(std::size_t i, const ScenarioResult& s) const {
        const std::optional<OneRankTimes>& traced = prepared_of(i).workload.one_rank;
        if (!traced || s.overlap || !(s.iteration_us > 0))
            return std::nullopt;
        return left_open_by_one_rank(s, *traced);
    }

    /// Intervals of all figures. Speed-ups are relative to what tell_speedups() and loops take.
    void tell_intervals(ExperimentResult& result) const {
        const intervals::Residuals* residuals = intervals_.residuals.get();
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
            const std::size_t task = planned_[i].main;
            if (!variant.computes() &&
                tell_single_collective(graph_of(i), outcomes_[task], variant.system, *residuals, s))
                continue;
            IntervalCase& own = cases[case_of_run(variant, graph_of(i), task)];
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
        add_intervals(cases, intervals_, result);
    }

    /// Times without overlap; 0 if nothing computes or nothing runs so.
    [[nodiscard]] PhaseTimes
    alone_of(std::size_t scenario, std::uint32_t steps = UINT32_MAX) const {
        const Shared& shared = shared_by(scenario);
        if (!shared.prepared.has_serial())
            return {};
        const ExecutionGraph& serial = shared.prepared.serial;
        return phase_times(serial, outcomes_[shared.baseline], steps);
    }

    [[nodiscard]] bool has_causes(std::size_t scenario) const {
        return !planned_[scenario].with.empty();
    }

    /// Outcome and graph of one of a scenario's runs for its causes.
    [[nodiscard]] std::pair<const ExecutionGraph&, const Outcome&>
    run_with(std::size_t scenario, MechanismSet on) const {
        const Planned& planned = planned_[scenario];
        const std::size_t task = planned.with.at(on);
        const PreparedVariant& variant = prepared_of(scenario);
        return {task == planned.main ? variant.workload.graph : variant.start, outcomes_[task]};
    }

    /// Causes are measured on the repeated first steps and represent all steps.
    [[nodiscard]] RunTimes times_of(std::size_t scenario, const PhaseTimes& now) const {
        RunTimes times;
        times.alone = alone_of(scenario);
        times.now = now;
        times.overlap = experiment_.scenarios[scenario].overlap;
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

    [[nodiscard]] std::vector<KernelClassResult> classes_of(std::size_t scenario) const {
        std::map<MechanismSet, std::map<std::string, ClassTime>> first;
        for (const auto& [on, task] : planned_[scenario].with) {
            const auto [graph, outcome] = run_with(scenario, on);
            first[on] = class_times(graph, outcome, kCauseSteps);
        }
        return kernel_classes(
            graph_of(scenario), outcomes_[planned_[scenario].main],
            mechanisms_of(prepared_of(scenario).system), first);
    }

    /// The scenario's result if no rank were late.
    [[nodiscard]] TogetherResult together_of(std::size_t scenario, double alone) const {
        const PhaseTimes times = phase_times(
            graph_of(scenario), outcomes_[planned_[scenario].together], graph_of(scenario).steps);
        TogetherResult together{times.iteration, times.exposed, std::nullopt};
        if (alone > 0)
            together.backward_slowdown = times.backward / alone - 1.0;
        return together;
    }

    ExperimentResult summarise() const {
        ExperimentResult result;
        result.experiment = experiment_.name;
        result.version = version();
        result.config_digest = loaded_.digest;
        result.effective_config = loaded_.effective_config;
        result.workload = variants_.front().prepared.workload.report;
        result.workload.notes.insert(
            result.workload.notes.begin(), loaded_.notes.begin(), loaded_.notes.end());
        result.workload.notes.insert(
            result.workload.notes.end(), left_out_notes_.begin(), left_out_notes_.end());
        for (std::size_t i = 0; i < experiment_.scenarios.size(); ++i)
            result.scenarios.push_back(scenario_result(i));
        for (const Outcome& outcome : outcomes_)
            result.host.events += outcome.events;
        const PreparedVariant& first = variants_.front().prepared;
        if (first.computes() && first.experiment->causes &&
            first.workload.graph.steps > kCauseSteps)
            result.workload.notes.push_back(fmt::format(
                "causes were measured on the first {} of {} steps", kCauseSteps,
                first.workload.graph.steps));
        std::set<std::string> ranges;
        for (std::size_t i = 0; i < experiment_.scenarios.size(); ++i)
            if (has_causes(i))
                ranges.merge(unmeasured_completions(prepared_of(i).system));
        if (std::string note = range_note(ranges); !note.empty())
            result.workload.notes.push_back(std::move(note));
        return result;
    }

    /// Everything except its speed-up, unless it is of loops.
    [[nodiscard]] ScenarioResult scenario_result(std::size_t i) const {
        const ScenarioParams& scenario = experiment_.scenarios[i];
        const PreparedVariant& variant = prepared_of(i);
        const Outcome& outcome = outcomes_[planned_[i].main];
        const ExecutionGraph& graph = graph_of(i);
        const PhaseTimes now = phase_times(graph, outcome, graph.steps);
        ScenarioResult s = measured_scenario(graph, outcome, now);
        if (variant.workload.unequal)
            compare_ranks(graph, outcome, s);
        tell_scenario(scenario, s);
        if (variant.workload.report != variants_.front().prepared.workload.report)
            s.workload = variant.workload.report;
        if (variant.computes()) {
            constexpr std::size_t kWorst = 10;
            s.kernel_classes = classes_of(i);
            s.worst_kernels = worst_kernels(graph, outcome, kWorst);
        }
        const RunTimes times = times_of(i, now);
        if (variant.workload.loops)
            tell_loops(times, graph, outcome, s);
        else
            tell_slowdowns(times, s);
        if (variant.workload.peers_late)
            s.together = together_of(i, times.alone.backward);
        if (const auto open = left_open(i, s))
            if (std::string note = note_of(*open, s.iteration_us); !note.empty())
                s.notes.push_back(std::move(note));
        return s;
    }

    /// Of scenarios whose causes were asked for.
    [[nodiscard]] std::vector<ScenarioCauses>
    kernel_causes(const std::vector<RanScenario>& scenarios) const {
        std::vector<ScenarioCauses> all;
        for (std::size_t i = 0; i < scenarios.size(); ++i) {
            if (!has_causes(i))
                continue;
            ScenarioCauses causes{
                scenarios[i], mechanisms_of(prepared_of(i).system), {}, kCauseSteps};
            for (const auto& [on, task] : planned_[i].with)
                causes.with[on] = &run_with(i, on).second;
            all.push_back(std::move(causes));
        }
        return all;
    }

    void write(ResultFolder& folder, const ExperimentResult& result) const {
        folder.write("effective-config.json", loaded_.effective_config);
        std::vector<RanScenario> scenarios;
        std::vector<RanMachine> machines;
        for (std::size_t i = 0; i < experiment_.scenarios.size(); ++i) {
            scenarios.push_back(
                {experiment_.scenarios[i].name, graph_of(i), outcomes_[planned_[i].main]});
            machines.push_back({scenarios.back(), prepared_of(i).system});
        }
        write_tables(folder, scenarios);
        write_learning(folder, result);
        write_changes(folder, result);
        write_counters(folder, scenarios);
        if (explored_) {
            write_communication(folder, scenarios);
            write_kernel_causes(folder, kernel_causes(scenarios));
        }
        write_links(folder, machines);
        if (options_.timeline)
            write_timeline(folder, scenarios, RankGpus(variants_.front().prepared.system).of(0));
        if (options_.rank_timelines) {
            const RankGpus gpus(variants_.front().prepared.system);
            write_rank_timelines(folder, scenarios, [&](std::uint32_t rank) -> const GpuParams& {
                return gpus.of(rank);
            });
        }
        folder.write("result.json", to_result_json(result));
        folder.commit();
        log([&] { return fmt::format("wrote {}", options_.out->string()); });
    }

    LoadedExperiment loaded_;
    const Experiment& experiment_;
    const RunOptions& options_;
    IntervalSource intervals_;             ///< read first, so that a bad table is noticed at once
    std::deque<Shared> variants_;          ///< referred to by runs
    std::vector<std::size_t> variant_of_;  ///< by scenario
    std::vector<std::string> left_out_notes_;
    bool explored_ = false;  ///< the report's map and timelines have their files
    std::vector<Job> jobs_;  ///< one per simulation
    std::vector<Planned> planned_;
    std::vector<Outcome> outcomes_;
};

}  // namespace

ExperimentResult run_single_workload(const LoadedExperiment& loaded, const RunOptions& options) {
    return Runner(loaded, options).run();
}

}  // namespace switchfold
