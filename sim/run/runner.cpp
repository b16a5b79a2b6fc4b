// SPDX-License-Identifier: Apache-2.0
#include "sim/run/runner.h"

#include "sim/core/error.h"
#include "sim/core/version.h"
#include "sim/output/timeline.h"
#include "sim/output/writers.h"
#include "sim/run/machine/simulate.h"
#include "sim/run/pool/outcome_codec.h"
#include "sim/run/pool/pool.h"
#include "sim/run/results/causes.h"
#include "sim/run/results/summary.h"
#include "sim/run/results/timeline.h"
#include "sim/run/workload/workload.h"
#include "workloads/graph/without_overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <map>
#include <memory>

#include <sys/resource.h>

namespace switchfold {

namespace {

/// All mechanisms on except this one; kMechanismCount: all on.
Contention without(std::size_t mechanism) {
    Contention contention;
    if (mechanism < kMechanismCount)
        contention.*kMechanisms[mechanism].on = false;
    return contention;
}

// Causes cost a run a mechanism and scenario: they are measured on this many steps and scaled to
// the whole.
constexpr std::uint32_t kCauseSteps = 2;

/// The operations launched before step `steps`.
ExecutionGraph first_steps(const ExecutionGraph& graph, std::uint32_t steps) {
    ExecutionGraph out = graph;
    out.steps = std::min(graph.steps, steps);
    std::map<const RankGraph*, std::shared_ptr<const RankGraph>> cut;
    for (auto& rank : out.ranks) {
        auto& shorter = cut[rank.get()];
        if (!shorter) {
            auto copy = std::make_shared<RankGraph>(*rank);
            const auto end = std::find_if(
                copy->operations.begin(), copy->operations.end(), [&](const Operation& operation) {
                    return operation.step >= steps;
                });
            copy->operations.shrink(static_cast<std::size_t>(end - copy->operations.begin()));
            shorter = std::move(copy);
        }
        rank = shorter;
    }
    return out;
}

class Runner {
public:
    Runner(const LoadedExperiment& loaded, const RunOptions& options) :
        loaded_(loaded),
        experiment_(loaded_.experiment),
        options_(options),
        system_(*loaded.experiment.system) {
        system_.faults.insert(
            system_.faults.end(), experiment_.faults.begin(), experiment_.faults.end());
    }

    ExperimentResult run() {
        const auto begin = std::chrono::steady_clock::now();
        // Before the long work, so that a folder that cannot be written is found out first.
        std::optional<ResultFolder> folder;
        if (options_.out)
            folder.emplace(*options_.out);
        workload_ = prepare_workload(loaded_);
        if (!workload_.left_out.empty())
            leave_out(loaded_, workload_.left_out);
        log_workload();
        if (computes())
            serial_ = without_overlap(workload_.graph);
        if (computes() && experiment_.causes)
            short_ = first_steps(workload_.graph, kCauseSteps);
        plan();
        log([&] {
            return fmt::format(
                "simulating {} scenarios in {} runs, {} at a time",
                experiment_.scenarios.size(),
                jobs_.size(),
                options_.jobs);
        });
        simulate_all();
        ExperimentResult result = summarise();
        log([&] { return fmt::format("simulated {} events", result.host.events); });
        const auto end = std::chrono::steady_clock::now();
        result.host.wall_s = std::chrono::duration<double>(end - begin).count();
        rusage own{};
        rusage children{};
        getrusage(RUSAGE_SELF, &own);
        getrusage(RUSAGE_CHILDREN, &children);
        constexpr std::uint64_t kKibi = 1024;
        result.host.peak_rss_bytes =
            static_cast<std::uint64_t>(std::max(own.ru_maxrss, children.ru_maxrss)) * kKibi;
        if (folder)
            write(*folder, result);
        return result;
    }

private:
    /// The text is made only if somebody reads it.
    template <class Text>
    void log(Text text) const {
        if (options_.log)
            options_.log(text());
    }
    void log_workload() const {
        log([&] {
            std::size_t operations = 0;
            for (const auto& rank : workload_.graph.ranks)
                operations += rank->operations.size();
            return fmt::format(
                "workload {}: {} ranks, {} operations, {} steps",
                workload_.report.source,
                workload_.graph.ranks.size(),
                operations,
                workload_.graph.steps);
        });
    }

    struct Planned {
        std::size_t main = 0;
        std::size_t together = 0;          ///< no rank late; main where none is anyway
        std::vector<std::size_t> without;  ///< by mechanism; empty if causes are not looked for
    };

    /// Whether the workload computes beside its collectives.
    [[nodiscard]] bool computes() const {
        return !std::holds_alternative<CollectiveWorkloadParams>(experiment_.workload) &&
               !std::holds_alternative<ExpertsWorkloadParams>(experiment_.workload);
    }

    /// Adds a run of the scenario without one mechanism.
    std::size_t
    add(const ScenarioParams& scenario, std::size_t off, bool counters, bool together = false) {
        SimulateOptions options;
        options.contention = without(off);
        options.counters = counters;
        options.peers_together = together;
        if (experiment_.functional)
            options.functional_seed = std::max<std::uint64_t>(1, experiment_.seed);
        options.fault_seed = experiment_.seed;
        options.limits = experiment_.limits;
        options.exact = experiment_.exact;
        const ExecutionGraph& graph = off == kMechanismCount ? graph_of(scenario) : short_;
        const CollectivePolicies policies = scenario.policies();
        jobs_.push_back(
            {scenario.name, [this, &graph, policies, options](const JobProgress& progress) {
                 SimulateOptions told = options;
                 told.progress = progress;
                 const Outcome outcome = simulate(system_, graph, policies, told);
                 progress(1, outcome.events);
                 return encode(outcome);
             }});
        return jobs_.size() - 1;
    }

    /// Fills outcomes_, in the order of the jobs.
    void simulate_all() {
        outcomes_.resize(jobs_.size());
        const auto keep = [this](std::size_t job, const JobResult& result) {
            if (result.code != ExitCode::kDone)
                rethrow(jobs_[job], result);
            outcomes_[job] = decode(result.bytes);
        };
        if (options_.in_process)
            run_jobs_here(jobs_, options_.progress, keep);
        else
            run_jobs(jobs_, options_.jobs, options_.progress, keep);
    }

    [[nodiscard]] const ExecutionGraph& graph_of(const ScenarioParams& scenario) const {
        return scenario.overlap || !computes() ? workload_.graph : serial_;
    }

    void plan() {
        // The long runs first, so that the short ones fill up the cores at the end.
        for (const ScenarioParams& scenario : experiment_.scenarios) {
            planned_.emplace_back();
            planned_.back().main = add(scenario, kMechanismCount, options_.timeline);
        }
        for (std::size_t i = 0; i < experiment_.scenarios.size(); ++i)
            planned_[i].together = workload_.peers_late
                                       ? add(experiment_.scenarios[i], kMechanismCount, false, true)
                                       : planned_[i].main;
        for (std::size_t i = 0; i < experiment_.scenarios.size(); ++i) {
            const ScenarioParams& scenario = experiment_.scenarios[i];
            if (!scenario.overlap || !computes() || !experiment_.causes)
                continue;
            for (std::size_t off = 0; off < kMechanismCount; ++off) {
                // What the machine does not have need not be switched off.
                const bool there = kMechanisms[off].on != &Contention::clock ||
                                   experiment_.system->gpu->clock_drop > 0;
                planned_[i].without.push_back(there ? add(scenario, off, false) : planned_[i].main);
            }
        }
        // Slowdown is against no overlap: without such a scenario a hidden one is the baseline.
        const auto baseline = std::find_if(
            experiment_.scenarios.begin(),
            experiment_.scenarios.end(),
            [](const ScenarioParams& s) { return !s.overlap; });
        if (!computes())
            return;
        if (baseline != experiment_.scenarios.end()) {
            baseline_ =
                planned_[static_cast<std::size_t>(baseline - experiment_.scenarios.begin())].main;
        } else {
            hidden_ = {"no overlap", false, ring_policy()};
            baseline_ = add(hidden_, kMechanismCount, false);
        }
    }

    [[nodiscard]] bool has_causes(std::size_t scenario) const {
        return !planned_[scenario].without.empty();
    }

    /// Outcome and graph of a scenario with everything on or without one mechanism.
    [[nodiscard]] std::pair<const ExecutionGraph&, const Outcome&>
    run_without(std::size_t scenario, std::size_t mechanism) const {
        const Planned& planned = planned_[scenario];
        const std::size_t task =
            mechanism < kMechanismCount ? planned.without[mechanism] : planned.main;
        return {task == planned.main ? workload_.graph : short_, outcomes_[task]};
    }

    /// The steps that were run again stand for all of them.
    [[nodiscard]] SlowdownByCause causes_of(std::size_t scenario, double whole) const {
        const double alone = phase_times(serial_, outcomes_[baseline_], kCauseSteps).backward;
        return find_causes(whole, [&](std::size_t mechanism) {
            const auto [graph, outcome] = run_without(scenario, mechanism);
            return phase_times(graph, outcome, kCauseSteps).backward / alone - 1.0;
        });
    }

    [[nodiscard]] std::vector<KernelClassResult> classes_of(std::size_t scenario) const {
        std::vector<KernelClassResult> results;
        const ExecutionGraph& graph = graph_of(experiment_.scenarios[scenario]);
        const Outcome& outcome = outcomes_[planned_[scenario].main];
        std::vector<std::map<std::string, ClassTime>> times;
        if (has_causes(scenario))
            for (std::size_t mechanism = 0; mechanism <= kMechanismCount; ++mechanism) {
                const auto [run, without] = run_without(scenario, mechanism);
                times.push_back(class_times(run, without, kCauseSteps));
            }
        const double share = 1.0 / static_cast<double>(graph.ranks.size()) / graph.steps;
        for (const auto& [name, all] : class_times(graph, outcome, graph.steps)) {
            KernelClassResult result;
            result.kernel_class = name;
            result.kernels = all.kernels;
            result.isolated_us = all.isolated_us * share;
            result.slowdown = all.isolated_us > 0 ? all.taken_us / all.isolated_us - 1.0 : 0.0;
            if (has_causes(scenario) && times.back().contains(name))
                result.causes = find_causes(result.slowdown, [&](std::size_t mechanism) {
                    const ClassTime& t = times[mechanism].at(name);
                    return t.taken_us / t.isolated_us - 1.0;
                });
            results.push_back(std::move(result));
        }
        return results;
    }

    /// The scenario as it would be with all ranks together.
    [[nodiscard]] TogetherResult together_of(std::size_t scenario, double alone) const {
        const PhaseTimes times = phase_times(
            graph_of(experiment_.scenarios[scenario]),
            outcomes_[planned_[scenario].together],
            workload_.graph.steps);
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
        result.workload = workload_.report;
        const std::uint32_t steps = workload_.graph.steps;
        const double alone =
            computes() ? phase_times(serial_, outcomes_[baseline_], steps).backward : 0.0;
        for (std::size_t i = 0; i < experiment_.scenarios.size(); ++i) {
            const ScenarioParams& scenario = experiment_.scenarios[i];
            const Outcome& outcome = outcomes_[planned_[i].main];
            const ExecutionGraph& graph = graph_of(scenario);
            const PhaseTimes times = phase_times(graph, outcome, steps);
            ScenarioResult s;
            s.name = scenario.name;
            s.overlap = scenario.overlap;
            s.iteration_us = times.iteration;
            s.forward_us = times.forward;
            s.backward_us = times.backward;
            s.optimizer_us = times.optimizer;
            s.exposed_communication_us = times.exposed;
            s.waiting_us = times.waiting;
            s.exposed_waiting_us = times.exposed_waiting;
            s.jumped_us = to_microseconds(Time(outcome.jumped_ps));
            s.collectives = collective_results(graph, outcome);
            s.statistics = outcome.statistics;
            s.notes = outcome.notes;
            s.events = outcome.events;
            s.counters = outcome.counters;
            if (computes()) {
                constexpr std::size_t kWorst = 10;
                s.kernel_classes = classes_of(i);
                s.worst_kernels = worst_kernels(graph, outcome, kWorst);
            }
            if (alone > 0) {
                const double slowdown = times.backward / alone - 1.0;
                s.backward_slowdown = slowdown;
                // Where nothing runs beside compute, no mechanism can slow it.
                if (has_causes(i) || !scenario.overlap) {
                    s.causes.emplace().other = slowdown;
                    if (has_causes(i))
                        s.causes = causes_of(i, slowdown);
                }
            }
            if (workload_.peers_late)
                s.together = together_of(i, alone);
            result.scenarios.push_back(std::move(s));
        }
        for (const Outcome& outcome : outcomes_)
            result.host.events += outcome.events;
        if (computes() && experiment_.causes && steps > kCauseSteps)
            result.workload.notes.push_back(fmt::format(
                "causes were measured on the first {} of {} steps", kCauseSteps, steps));
        return result;
    }

    void write(ResultFolder& folder, const ExperimentResult& result) const {
        folder.write("effective-config.json", loaded_.effective_config);
        TextFile kernels(folder.stage("kernels.csv"));
        kernels.write(kernel_csv_header());
        for (std::size_t i = 0; i < experiment_.scenarios.size(); ++i) {
            std::string block;
            constexpr std::size_t kBlock = 1U << 20U;
            const ScenarioParams& scenario = experiment_.scenarios[i];
            for_each_kernel(
                graph_of(scenario), outcomes_[planned_[i].main], [&](const KernelRow& row) {
                    block += kernel_csv_line(scenario.name, row);
                    if (block.size() > kBlock) {
                        kernels.write(block);
                        block.clear();
                    }
                });
            kernels.write(block);
        }
        kernels.close();
        if (options_.timeline) {
            write_timeline(folder.stage("timeline.json.gz"));
            write_counters(folder.stage("counters.csv"));
        }
        folder.write("result.json", to_result_json(result));
        folder.commit();
        log([&] { return fmt::format("wrote {}", options_.out->string()); });
    }

    void write_counters(const std::filesystem::path& path) const {
        TextFile file(path);
        file.write(counter_csv_header());
        for (std::size_t i = 0; i < experiment_.scenarios.size(); ++i) {
            std::string block;
            for (const CounterSample& sample : outcomes_[planned_[i].main].counters)
                block += counter_csv_line(experiment_.scenarios[i].name, sample);
            file.write(block);
        }
        file.close();
    }

    void write_timeline(const std::filesystem::path& path) const {
        const GpuParams& gpu = *experiment_.system->gpu;
        TimelineWriter writer(
            path, gpu.name, static_cast<std::uint32_t>(workload_.graph.ranks.size()), gpu.sms);
        for (std::size_t s = 0; s < experiment_.scenarios.size(); ++s)
            add_to_timeline(
                writer,
                experiment_.scenarios[s].name,
                graph_of(experiment_.scenarios[s]),
                outcomes_[planned_[s].main]);
        writer.close();
    }

    LoadedExperiment loaded_;
    const Experiment& experiment_;
    const RunOptions& options_;
    SystemParams system_;  ///< with the experiment's faults
    PreparedWorkload workload_;
    ExecutionGraph serial_;
    ExecutionGraph short_;
    ScenarioParams hidden_;
    std::vector<Job> jobs_;  ///< one a simulation
    std::vector<Planned> planned_;
    std::size_t baseline_ = SIZE_MAX;
    std::vector<Outcome> outcomes_;
};

}  // namespace

ExperimentResult run_experiment(const LoadedExperiment& loaded, const RunOptions& options) {
    return Runner(loaded, options).run();
}

}  // namespace switchfold
