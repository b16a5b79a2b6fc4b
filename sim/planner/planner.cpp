// SPDX-License-Identifier: Apache-2.0
#include "sim/planner/planner.h"

#include "core/error.h"
#include "sim/planner/plan_files.h"
#include "sim/planner/plan_store.h"
#include "sim/pool/pool.h"
#include "sim/results/training.h"
#include "sim/simulations.h"
#include "sim/uncertainty/figure_intervals.h"
#include "sim/uncertainty/own_residuals.h"
#include "sim/uncertainty/part_kinds.h"
#include "sim/workload/folded_workload.h"
#include "sim/workload/prepared_variant.h"
#include "sim/workload/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

namespace switchfold {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// For the candidate's single scenario; only times matter, so collectives carry no values.
SimulateOptions options_of(const Experiment& experiment, bool contention) {
    SimulateOptions options = simulate_options(experiment, experiment.scenarios.front());
    options.functional_seed = 0;
    if (!contention)
        options.contention = {false, false, false, false, false};
    return options;
}

/// \returns seconds of a step.
double simulated(const LoadedExperiment& loaded, bool contention) {
    const Experiment& experiment = loaded.experiment;
    const SystemParams system = with_faults(experiment);
    const CollectivePolicies policies = experiment.scenarios.front().policies();
    const SimulateOptions options = options_of(experiment, contention);
    PreparedWorkload workload = prepare_workload(loaded);
    if (workload.folded)
        workload.graph = measured_graph(*workload.folded, system, policies, options);
    const Outcome outcome = simulate(system, workload.graph, policies, options);
    return round_us(workload.graph, outcome) * 1e-6;
}

class Search {
public:
    Search(const LoadedExperiment& loaded, const PlannerOptions& options) :
        loaded_(loaded), options_(options) {}

    PlannerResult run() {
        prepare();
        if (options_.slurm)
            store_->forget_failed();
        search(true);
        if (best(true) == kNever)
            throw_nothing_ran();
        search(false);
        summarise();
        store_->flush();
        if (options_.out)
            write_plan_files(*options_.out, loaded_, result_);
        return std::move(result_);
    }

    void run_only(const std::set<std::string>& digests) {
        prepare();
        only_ = true;
        for (const bool contention : {true, false}) {
            std::vector<std::size_t> wanted;
            for (std::size_t i = 0; i < candidates().size(); ++i)
                if (digests.contains(store_->digest(i, contention)) &&
                    seconds_[contention ? 1 : 0][i] == kNever)
                    wanted.push_back(i);
            run_here(wanted, contention);
        }
        store_->flush();
    }

private:
    void prepare() {
        result_.space = candidate_space(loaded_, options_.jobs, [this](double judged) {
            if (!options_.progress)
                return;
            PlannerProgress progress;
            progress.judged = judged;
            progress.elapsed_s = elapsed();
            options_.progress(progress);
        });
        log(fmt::format(
            "{} plans fit of {} combinations", result_.space.candidates.size(),
            result_.space.combinations));
        store_.emplace(loaded_, result_.space, options_.out);
        const IntervalSource source =
            with_own_residuals(options_.intervals, loaded_.experiment.system.path);
        if (source.residuals) {
            const PartKind step =
                PartKinds(*loaded_.experiment.system).of_step("training", result_.space.gpus);
            result_.step_error = time_interval(1, step, *source.residuals);
            result_.ratio_error = ratio_interval(1, step, *source.residuals);
        } else if (!source.why_none.empty())
            result_.space.notes.push_back(source.why_none);
        seconds_.assign(2, std::vector<double>(candidates().size(), kNever));
        failed_.assign(candidates().size(), false);
        for (const bool contention : {true, false})
            read_known(contention);
    }
    void read_known(bool contention) {
        for (std::size_t i = 0; i < candidates().size(); ++i)
            if (const auto known = store_->known(i, contention))
                seconds_[contention ? 1 : 0][i] = *known;
    }
    [[nodiscard]] const std::vector<PlanCandidate>& candidates() const {
        return result_.space.candidates;
    }
    void log(const std::string& text) const {
        if (options_.log)
            options_.log(text);
    }
    [[nodiscard]] double best(bool contention) const {
        const std::vector<double>& all = seconds_[contention ? 1 : 0];
        return *std::min_element(all.begin(), all.end());
    }
    [[nodiscard]] double elapsed() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }
    [[nodiscard]] bool spent() const {
        return (options_.budget.simulations && begun_ >= *options_.budget.simulations) ||
               (options_.budget.seconds && elapsed() >= *options_.budget.seconds);
    }
    /// Whether a candidate may still beat the best. For free overlap, only candidates already
    /// simulated with contention count.
    [[nodiscard]] bool is_open(std::size_t i, bool contention) const {
        return !failed_[i] && seconds_[contention ? 1 : 0][i] == kNever &&
               (contention || seconds_[1][i] < kNever) &&
               candidates()[i].bound.seconds() < best(contention);
    }
    [[nodiscard]] std::vector<std::size_t> open(bool contention) const {
        std::vector<std::size_t> all;
        const double limit = best(contention);
        // By ascending bound: none after the first that is too high.
        for (std::size_t i = 0; i < candidates().size(); ++i) {
            if (candidates()[i].bound.seconds() >= limit)
                break;
            if (is_open(i, contention))
                all.push_back(i);
        }
        return all;
    }

    void search(bool contention) {
        log(contention ? "searching" : "searching with overlap for free");
        // A few per process; before each one starts, its bound is compared with the best again.
        const std::size_t processes =
            std::size_t{std::max(1U, options_.jobs)} * (options_.slurm ? options_.slurm->tasks : 1);
        const std::size_t most = 4 * processes;
        for (std::vector<std::size_t> next = open(contention); !next.empty() && !spent();
             next = open(contention)) {
            next.resize(std::min(next.size(), most));
            if (options_.budget.simulations)
                next.resize(
                    std::min<std::size_t>(next.size(), *options_.budget.simulations - begun_));
            if (options_.slurm)
                run_by_slurm(next, contention);
            else
                run_here(next, contention);
        }
    }

    void run_by_slurm(const std::vector<std::size_t>& next, bool contention) {
        SweepOptions sweep;
        sweep.jobs = options_.jobs;
        sweep.log = options_.log;
        sweep.progress = [&](const SweepProgress& /*progress*/) { tell(contention); };
        const std::string failure = store_->run_by_slurm(next, contention, *options_.slurm, sweep);
        read_known(contention);
        begun_ += next.size();
        for (const std::size_t i : next)
            if (seconds_[contention ? 1 : 0][i] == kNever) {
                failed_[i] = true;
                result_.failure = failure;
            }
        tell(contention);
    }

    /// Each process sees the search as of the process's start.
    void run_here(const std::vector<std::size_t>& next, bool contention) {
        std::vector<Job> jobs;
        for (const std::size_t i : next)
            jobs.push_back(
                {name_of(candidates()[i], loaded_.experiment),
                 [this, i, contention](const JobProgress& /*progress*/) {
                     if (!only_ && (!is_open(i, contention) || past_time()))
                         return std::string();
                     const double seconds =
                         simulated(experiment_of(candidates()[i], loaded_), contention);
                     return std::string(reinterpret_cast<const char*>(&seconds), sizeof seconds);
                 }});
        const auto told = [&](const WorkerProgress& /*progress*/) {
            store_->tick();
            tell(contention);
        };
        run_jobs(jobs, options_.jobs, told, [&](std::size_t job, const JobResult& result) {
            const std::size_t i = next[job];
            if (result.code != ExitCode::kDone) {
                ++begun_;
                failed_[i] = true;
                if (result_.failure.empty())
                    result_.failure = fmt::format("{}: {}", jobs[job].label, result.error);
                store_->fail(i, contention, result);
            } else if (!result.bytes.empty()) {
                ++begun_;
                double seconds = 0;
                std::memcpy(&seconds, result.bytes.data(), sizeof seconds);
                store_->keep(i, contention, seconds, result_.step_error);
                // Rounded as when reading stored results.
                seconds_[contention ? 1 : 0][i] = seconds * kMicroseconds / kMicroseconds;
            }
            tell(contention);
        });
    }

    [[nodiscard]] bool past_time() const {
        return options_.budget.seconds && elapsed() >= *options_.budget.seconds;
    }

    void tell(bool contention) const {
        if (!options_.progress)
            return;
        PlannerProgress progress;
        const std::vector<std::size_t> left = open(contention);
        for (const double seconds : seconds_[contention ? 1 : 0])
            progress.simulated += seconds < kNever ? 1 : 0;
        progress.open = left.size();
        progress.best_s = best(contention) < kNever ? best(contention) : 0;
        progress.bound_s = left.empty() ? 0 : candidates()[left.front()].bound.seconds();
        progress.elapsed_s = elapsed();
        if (begun_ > 0 && progress.best_s > 0)
            progress.left_s =
                progress.elapsed_s / static_cast<double>(begun_) * static_cast<double>(left.size());
        options_.progress(progress);
    }

    [[noreturn]] void throw_nothing_ran() const {
        if (result_.failure.empty())
            throw ConfigError(
                "--budget", "",
                "ended before the first plan was simulated; expected a larger budget");
        throw SimulationError("planner", Time(), "no plan ran to the end: " + result_.failure);
    }

    /// Whether a sequential search would have simulated it too: what others simulate depends on the
    /// number of processes and on how long they take.
    [[nodiscard]] bool would_simulate(std::size_t i, bool contention) const {
        const double seconds = seconds_[contention ? 1 : 0][i];
        const double least = best(contention);
        return seconds < kNever && (candidates()[i].bound.seconds() < least || seconds <= least);
    }

    void summarise() {
        for (std::size_t i = 0; i < candidates().size(); ++i) {
            result_.failed += failed_[i] ? 1 : 0;
            if (!would_simulate(i, true))
                continue;
            SimulatedPlan plan{i, seconds_[1][i], {}};
            if (would_simulate(i, false))
                plan.alone_seconds = seconds_[0][i];
            result_.simulated.push_back(plan);
        }
        std::stable_sort(
            result_.simulated.begin(), result_.simulated.end(),
            [](const SimulatedPlan& a, const SimulatedPlan& b) { return a.seconds < b.seconds; });
        const std::vector<std::size_t> left = open(true);
        result_.open = left.size();
        result_.least_bound =
            left.empty() ? best(true) : candidates()[left.front()].bound.seconds();
        result_.simulations = begun_;
        if (!open(false).empty() || best(false) == kNever)
            return;
        for (std::size_t k = 0; k < result_.simulated.size(); ++k)
            if (result_.simulated[k].alone_seconds == best(false)) {
                result_.alone_best = k;
                return;
            }
    }

    const LoadedExperiment& loaded_;
    const PlannerOptions& options_;
    PlannerResult result_;
    std::optional<PlanStore> store_;
    std::vector<std::vector<double>> seconds_;  ///< without and with contention, by candidate
    std::vector<bool> failed_;
    bool only_ = false;        ///< run exactly the named candidates
    std::uint64_t begun_ = 0;  ///< simulations started by this search
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

PlannerResult search_plans(const LoadedExperiment& loaded, const PlannerOptions& options) {
    return Search(loaded, options).run();
}

void simulate_plans(
    const LoadedExperiment& loaded, const PlannerOptions& options,
    const std::set<std::string>& digests) {
    Search(loaded, options).run_only(digests);
}

}  // namespace switchfold
