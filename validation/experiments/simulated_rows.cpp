// SPDX-License-Identifier: Apache-2.0
#include "validation/experiments/simulated_rows.h"

#include "core/byte_codec.h"
#include "core/error.h"
#include "sim/config/training_params.h"
#include "sim/kinds/collective/collective_params.h"
#include "sim/kinds/experts/experts_params.h"
#include "sim/kinds/kinds.h"
#include "sim/machine/likeness.h"
#include "sim/machine/system_queries.h"
#include "sim/pool/pool.h"
#include "sim/runner.h"
#include "sim/sweep/digest.h"
#include "sim/uncertainty/part_kinds.h"
#include "sim/workload/kernel_model.h"
#include "validation/harness/longest_first.h"
#include "validation/machines/bounds.h"
#include "validation/machines/machines.h"
#include "workloads/graph/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace switchfold::validation {

namespace {

constexpr std::uint32_t kMostSeconds = 120;  ///< of a row, if the user states no limit
constexpr std::size_t kMostToldProblems = 10;

/// An experiment that one or more rows measured.
struct RowRun {
    LoadedExperiment loaded;
    std::string digest;
    std::string label;  ///< the first row's id
    double work = 0;    ///< about, against that of others
    std::optional<RunRecord> record;
    std::string why;                ///< reason why there is no record; empty if there is one
    std::vector<Problem> problems;  ///< of its workload, with which nothing runs
};

/// What came of a row before anything was compared.
struct RowState {
    std::optional<std::size_t> run;
    std::string why;  ///< reason why it is left out; empty if it is not
    std::vector<Problem> problems;
};

/// What simulating a row's experiment gives, from its job and in what is kept.
struct RowOutcome {
    std::optional<RunRecord> record;
    std::vector<Problem> problems;      ///< with which its workload was refused
    std::uint32_t not_ended_after = 0;  ///< seconds of processor time, the limit at that time

    static constexpr auto fields() {
        using R = RowOutcome;
        return list_of(
            member("record", &R::record), member("problems", &R::problems),
            member("not_ended_after", &R::not_ended_after));
    }
};

/// Making the workload is most of a short row's work, and is done where the row is simulated.
RowOutcome outcome_of(const LoadedExperiment& loaded, const JobProgress& report) {
    RunOptions options;
    options.in_process = true;
    options.progress = [&](const WorkerProgress& p) {
        if (p.phase == WorkPhase::kSimulating)
            report(p.share, p.events);
    };
    try {
        return {record_of(run_experiment(loaded, options)), {}, 0};
    } catch (const ConfigError& error) {
        return {{}, error.problems(), 0};
    }
}

std::string texts_of(const std::vector<Problem>& problems, bool with_file) {
    std::string text;
    for (const Problem& problem : problems)
        text += fmt::format(
            "{}{}", text.empty() ? "" : "; ",
            with_file ? problem.text() : fmt::format("{}: {}", problem.pointer, problem.message));
    return text;
}

class RowComparison {
public:
    RowComparison(
        const std::vector<MeasuredExperiment>& rows, const SuiteOptions& options,
        SuiteResult& result, std::vector<Problem>& problems, bool lines) :
        rows_(rows), options_(options), result_(result), problems_(problems), lines_(lines) {
        if (result.judged)
            machines_.emplace(options.root);
    }

    void run() {
        for (const MeasuredExperiment& row : rows_)
            states_.push_back(load(row));
        simulate();
        for (std::size_t i = 0; i < rows_.size(); ++i)
            tell(rows_[i], states_[i]);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (const auto at = states_[i].run; at && runs_[*at].problems.empty())
                compare(rows_[i], runs_[*at]);
    }

private:
    void leave_out(const MeasuredExperiment& row, std::string why) {
        if (lines_)
            why = fmt::format("line {}: {}", row.record.line, why);
        result_.unmatched.push_back({row.id, std::move(why)});
    }

    /// Leaves the row out if it cannot be read or run.
    void tell(const MeasuredExperiment& row, const RowState& state) {
        const bool runs = state.run && runs_[*state.run].problems.empty();
        if (runs)
            return;
        const std::vector<Problem>& problems =
            state.run ? runs_[*state.run].problems : state.problems;
        leave_out(row, state.why.empty() ? texts_of(problems, lines_) : state.why);
        for (const Problem& problem : problems)
            if (problems_.size() < kMostToldProblems && told_.insert(problem.text()).second)
                problems_.push_back(problem);
    }

    RowState load(const MeasuredExperiment& row) {
        if (!row.why.empty())
            return {
                {},
                why_without_line(row),
                {{row.id.substr(0, row.id.find('/')), fmt::format("line {}", row.record.line),
                  why_without_line(row)}}};
        try {
            LoadedExperiment loaded = load_row(row);
            for (const auto why_not : {why_other_ranks, why_too_fast})
                if (std::string why = why_not(row, loaded); !why.empty())
                    return {{}, std::move(why), {}};
            std::string digest = digests_.of(loaded);
            const auto [at, fresh] = index_.try_emplace(digest, runs_.size());
            if (fresh) {
                RowRun& run = runs_.emplace_back();
                run.loaded = std::move(loaded);
                run.digest = std::move(digest);
                run.label = row.id;
                run.work = static_cast<double>(row.gpus);
            }
            return {at->second, {}, {}};
        } catch (const ConfigError& error) {
            return {{}, {}, error.problems()};
        }
    }

    /// A plan is of all GPUs that the row states.
    static std::string
    why_other_ranks(const MeasuredExperiment& row, const LoadedExperiment& loaded) {
        const auto* training = workload_of<TrainingWorkloadParams>(loaded.experiment);
        if (training == nullptr || !training->plan || row.gpus == 0 ||
            ranks_of(*training->plan) == row.gpus)
            return {};
        return fmt::format("{} ranks on {} GPUs", ranks_of(*training->plan), row.gpus);
    }

    /// Collectives are held against the links before anything runs.
    static std::string why_too_fast(const MeasuredExperiment& row, const LoadedExperiment& loaded) {
        const Experiment& experiment = loaded.experiment;
        const auto* one = workload_of<CollectiveWorkloadParams>(experiment);
        if (one == nullptr)
            return {};
        const SystemParams& system = *experiment.system;
        const std::uint32_t ranks =
            one->ranks > 0 ? one->ranks : build_topology(system.topology).gpus();
        for (const MeasuredNumber& number : row.numbers) {
            const double bytes = static_cast<double>(one->size.count());
            const std::string& key = number.figure.key;
            double seconds = 0;
            if (key == "time")
                seconds = number.high.value_or(number.value) * 1e-6;
            else if (key == "bus_bandwidth_GBps")
                seconds = bytes * bus_factor(one->collective, ranks) /
                          (number.low.value_or(number.value) * 1e9);
            else if (key == "algorithm_bandwidth_GBps")
                seconds = bytes / (number.low.value_or(number.value) * 1e9);
            else
                continue;
            if (std::string why =
                    why_impossible(system, one->collective, one->size.count(), ranks, seconds);
                !why.empty())
                return why;
        }
        return {};
    }

    [[nodiscard]] std::uint32_t most_seconds() const {
        return options_.row_seconds.value_or(kMostSeconds);
    }
    /// A row that did not end in some time does not end in less.
    [[nodiscard]] std::string ended_key(const RowRun& run) const {
        return fmt::format("experiment {} ended", run.digest);
    }

    bool take_kept(RowRun& run) const {
        const auto kept = options_.kept.find(ended_key(run));
        if (!kept)
            return false;
        RowOutcome outcome;
        try {
            outcome = value_of_bytes<RowOutcome>(*kept);
        } catch (const InternalError&) {
            return false;  // a file that was cut
        }
        run.record = std::move(outcome.record);
        if (run.record)
            return true;
        if (most_seconds() == 0 || outcome.not_ended_after < most_seconds())
            return false;
        run.why = fmt::format("did not end in {} s of processor time", most_seconds());
        return true;
    }

    void simulate() {
        std::vector<Job> jobs;
        std::vector<std::size_t> of;
        const auto work = [&](std::size_t i) { return runs_[i].work; };
        for (const std::size_t i : longest_first(runs_.size(), work)) {
            if (take_kept(runs_[i]))
                continue;
            of.push_back(i);
            jobs.push_back({runs_[i].label, [this, i](const JobProgress& report) {
                                return value_bytes(outcome_of(runs_[i].loaded, report));
                            }});
        }
        if (options_.log)
            options_.log(fmt::format(
                "{} rows, {} experiments, {} kept from earlier runs, {} to simulate", rows_.size(),
                runs_.size(), runs_.size() - jobs.size(), jobs.size()));
        const PoolOptions pool{std::max(1U, options_.jobs), false, 0, most_seconds()};
        run_jobs(jobs, pool, options_.progress, [&](std::size_t job, const JobResult& done) {
            RowRun& run = runs_[of[job]];
            if (done.code == ExitCode::kInternal)
                rethrow(jobs[job], done);
            if (done.code == ExitCode::kDone) {
                auto outcome = value_of_bytes<RowOutcome>(done.bytes);
                run.record = std::move(outcome.record);
                run.problems = std::move(outcome.problems);
                if (run.record)
                    options_.kept.keep(ended_key(run), done.bytes);
                return;
            }
            run.why = done.error;
            if (done.out_of_time)
                options_.kept.keep(ended_key(run), value_bytes(RowOutcome{{}, {}, most_seconds()}));
        });
    }

    void compare(const MeasuredExperiment& row, const RowRun& run) {
        if (!run.record) {
            leave_out(row, run.why);
            return;
        }
        if (run.record->scenarios.empty()) {
            leave_out(row, "no scenario of its experiment can run on the machine");
            return;
        }
        const RecordedScenario& scenario = run.record->scenarios.front();
        for (const MeasuredNumber& number : row.numbers) {
            if (const auto simulated = value_of(number.figure, scenario))
                add(row, run, number, scenario, *simulated);
            else
                leave_out(row, fmt::format("its result has no {}", number.figure.name));
        }
    }

    void
    add(const MeasuredExperiment& row, const RowRun& run, const MeasuredNumber& number,
        const RecordedScenario& scenario, double simulated) {
        if (std::string why = why_too_much(run, number, scenario); !why.empty()) {
            leave_out(row, why);
            return;
        }
        Case c;
        const std::string suffix =
            number.suffix.value_or(row.numbers.size() == 1 ? std::string() : number.name);
        c.id = suffix.empty() ? row.id : fmt::format("{}/{}", row.id, suffix);
        c.group = number.group;
        c.quantity = number.name;
        c.unit = number.unit;
        c.measured = number.value * number.shown;
        if (number.low)
            c.low = *number.low * number.shown;
        if (number.high)
            c.high = *number.high * number.shown;
        c.simulated = simulated * number.shown;
        c.fitted = machines_ && machines_->fitted_on(row.table);
        c.machine = run.loaded.experiment.system->name;
        c.how = c.machine;
        c.like = number.like ? likeness_of(*number.like, row, *run.loaded.experiment.system)
                             : likeness_of(run.loaded.experiment, number.figure, scenario);
        if (scenario.collective)
            c.how += fmt::format(
                ", {} {} {}", scenario.collective->algorithm, scenario.collective->protocol,
                scenario.collective->channels);
        result_.cases.push_back(std::move(c));
    }

    static intervals::Likeness likeness_of(
        const MapLikeness& stated, const MeasuredExperiment& row, const SystemParams& system) {
        intervals::Likeness like = likeness_on(system, stated.kind, row.gpus);
        like.operation = stated.operation;
        like.machines = row.nodes;
        return like;
    }

    /// Of collectives alone, and of steps: what others are like, their map says.
    static intervals::Likeness likeness_of(
        const Experiment& experiment, const MeasuredFigure& figure,
        const RecordedScenario& scenario) {
        if (!scenario.collective)
            return is_of_step(figure) ? likeness_of_step(experiment) : intervals::Likeness();
        intervals::Likeness like =
            likeness_on(*experiment.system, "collective", scenario.collective->ranks);
        if (const auto* one = workload_of<CollectiveWorkloadParams>(experiment))
            like.operation = to_string(one->collective);
        else if (const auto* experts = workload_of<ExpertsWorkloadParams>(experiment))
            like.operation = to_string(
                experts->operation == ExpertsOperation::kCombine ? CollectiveKind::kMoeCombine
                                                                 : CollectiveKind::kMoeDispatch);
        like.algorithm = scenario.collective->algorithm;
        like.bytes = static_cast<double>(scenario.collective->size_bytes);
        return like;
    }

    /// Of a plan's ranks, or of a workload on all GPUs of its machine.
    static intervals::Likeness likeness_of_step(const Experiment& experiment) {
        const std::string_view measured_as = kind_of(*experiment.workload).facts().measured_as;
        if (measured_as.empty() || !experiment.system->has_gpus())
            return {};
        const PlanParams* const plan = plan_of(experiment);
        const std::uint32_t ranks =
            plan == nullptr ? gpus_of(*experiment.system)
                            : plan->tensor * plan->context * plan->pipeline * plan->data;
        return PartKinds(*experiment.system).of_step(std::string(measured_as), ranks).like;
    }

    /// The model's arithmetic in the measured time, beside what the GPU has at most.
    static std::string why_too_much(
        const RowRun& run, const MeasuredNumber& number, const RecordedScenario& scenario) {
        const Experiment& experiment = run.loaded.experiment;
        const auto* training = workload_of<TrainingWorkloadParams>(experiment);
        if (training == nullptr || !scenario.tflops_per_gpu)
            return {};
        double teraflops = 0;
        if (number.figure.key == "time" || number.figure.key == "iteration_us")
            teraflops = *scenario.tflops_per_gpu * scenario.iteration_us /
                        number.high.value_or(number.value);
        else if (number.figure.key == "samples_per_s" && scenario.samples_per_s)
            teraflops = *scenario.tflops_per_gpu * number.low.value_or(number.value) /
                        *scenario.samples_per_s;
        else if (number.figure.key == "tflops_per_gpu")
            teraflops = number.low.value_or(number.value);
        constexpr double kTeraflops = 1e12;
        // Whatever a network's precision, its products may run in 16 bits.
        return why_impossible_rate(
            teraflops * kTeraflops, gpu_rates(*experiment.system->gpu), Datatype::kBfloat16);
    }

    const std::vector<MeasuredExperiment>& rows_;
    const SuiteOptions& options_;
    SuiteResult& result_;
    std::vector<Problem>& problems_;
    bool lines_;
    std::optional<Machines> machines_;  ///< of the repository's own tables
    DigestMaker digests_;
    std::vector<RowRun> runs_;
    std::map<std::string, std::size_t> index_;  ///< of a digest's run
    std::vector<RowState> states_;              ///< by row
    std::set<std::string> told_;
};

}  // namespace

void compare_rows(
    const std::vector<MeasuredExperiment>& rows, const SuiteOptions& options, SuiteResult& result,
    std::vector<Problem>& problems, bool lines) {
    RowComparison(rows, options, result, problems, lines).run();
}

}  // namespace switchfold::validation
