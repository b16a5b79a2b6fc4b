// SPDX-License-Identifier: Apache-2.0
#include "validation/training/planned_row.h"

#include "sim/machine/likeness.h"
#include "sim/machine/simulate.h"
#include "sim/pool/outcome_codec.h"
#include "sim/pool/value_jobs.h"
#include "sim/results/training.h"
#include "sim/workload/folded_plan.h"
#include "sim/workload/folded_probes.h"
#include "sim/workload/kernel_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

namespace switchfold::validation {

namespace {

using RowGroup = std::vector<std::size_t>;  ///< numbers of rows

/// Equal for rows that may measure equal collectives.
std::string alike(const PlannedStepRow& planned, std::size_t number) {
    if (!planned.fold)
        return fmt::format("row {}", number);
    const StepRow& row = *planned.row;
    const ParallelPlan& plan = row.plan;
    return fmt::format(
        "{} of {} {}, {} GPUs on {}: {} by {}, {}, {}, {}", planned.system->name, row.gpu,
        row.interconnect, row.gpus, row.nodes, row.network->name, plan.tensor, plan.context,
        plan.pipeline, plan.data);
}

/// The progress of rows one after another, each of several simulations.
class RowsProgress {
public:
    RowsProgress(const JobProgress& job, std::size_t rows) : job_(job), rows_(rows) {}
    [[nodiscard]] JobProgress of_row(std::size_t row) {
        return [this, row](double share, std::uint64_t events) {
            if (events < last_)
                before_ += last_;
            last_ = events;
            if (job_)
                job_(
                    (static_cast<double>(row) + share) / static_cast<double>(rows_),
                    before_ + events);
        };
    }

private:
    const JobProgress& job_;
    std::size_t rows_;
    std::uint64_t before_ = 0;  ///< events of earlier simulations
    std::uint64_t last_ = 0;
};

/// What collectives of folded steps took, of one machine and one division of a network.
class MeasuredBefore {
public:
    Outcome outcome(
        const FoldedProbes::Run& run, const SystemParams& system, const SimulateOptions& options) {
        const auto known = std::ranges::find_if(known_, [&](const Known& other) {
            return other.policies == run.policies && same(other.graph, run.graph);
        });
        if (known != known_.end())
            return decode(known->outcome);
        known_.push_back(
            {run.graph, run.policies,
             encode(FoldedProbes::told(simulate(system, run.graph, run.policies, options)))});
        return decode(known_.back().outcome);
    }

private:
    struct Known {
        ExecutionGraph graph;
        CollectivePolicies policies;
        std::string outcome;  ///< encoded
    };
    /// What a graph says that it trains decides nothing.
    static bool same(const ExecutionGraph& a, const ExecutionGraph& b) {
        return a.names == b.names && a.groups == b.groups && a.experts == b.experts &&
               a.exchanges == b.exchanges && a.steps == b.steps &&
               std::ranges::equal(a.ranks, b.ranks, [](const auto& one, const auto& other) {
                   return one == other || (one && other && *one == *other);
               });
    }
    std::vector<Known> known_;
};

double
seconds_of(const PlannedStepRow& planned, MeasuredBefore& before, const JobProgress& progress) {
    SimulateOptions options;
    options.progress = progress;
    const SystemParams& system = *planned.system;
    const auto graph = [&] {
        if (!planned.fold)
            return plan_step(*planned.step);
        const FoldedStep folded = folded_step(*planned.step, system);
        const FoldedProbes probes(folded, system, {});
        std::vector<Outcome> outcomes;
        for (const FoldedProbes::Run& run : probes.runs())
            outcomes.push_back(before.outcome(run, system, options));
        return folded.graph(probes.measured(outcomes));
    }();
    const Outcome outcome = simulate(system, graph, {}, options);
    constexpr double kMicrosecond = 1e-6;
    return round_us(graph, outcome) * kMicrosecond;
}

std::vector<double> seconds_of(
    const std::vector<PlannedStepRow>& rows, const RowGroup& group, const JobProgress& progress) {
    MeasuredBefore before;
    RowsProgress progress_of(progress, group.size());
    std::vector<double> seconds;
    for (std::size_t i = 0; i < group.size(); ++i)
        seconds.push_back(seconds_of(rows[group[i]], before, progress_of.of_row(i)));
    return seconds;
}

}  // namespace

PlannedStepRow planned_row(const StepRow& row, const SystemParams& system) {
    return {
        &row, std::make_shared<const SystemParams>(system),
        std::make_shared<const PlannedStep>(
            *row.network, KernelTimes(gpu_rates(*system.gpu)), row.plan)};
}

intervals::Likeness step_likeness(const StepRow& row, const SystemParams& system) {
    intervals::Likeness like = likeness_on(system, "step", row.gpus);
    like.operation = "training";
    like.machines = std::max(1U, row.nodes);
    return like;
}

std::vector<double>
simulated_steps(const std::vector<PlannedStepRow>& rows, const SuiteOptions& options) {
    std::vector<RowGroup> groups;
    std::map<std::string, std::size_t> group_of;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [at, fresh] = group_of.try_emplace(alike(rows[i], i), groups.size());
        if (fresh)
            groups.emplace_back();
        groups[at->second].push_back(i);
    }
    // Longest first, so that short ones fill the cores at the end.
    std::ranges::stable_sort(groups, std::greater<>(), [&](const RowGroup& group) {
        return group.size() * rows[group.front()].row->gpus;
    });
    std::vector<Job> jobs;
    for (const RowGroup& group : groups)
        jobs.push_back(
            {rows[group.front()].row->id,
             [&](const JobProgress& progress) {
                 return value_bytes(seconds_of(rows, group, progress));
             },
             static_cast<double>(group.size() * rows[group.front()].row->gpus)});
    const auto found = values_of<std::vector<double>>(
        jobs, [&](std::span<const Job> started, const JobEnded& ended) {
            run_jobs(started, options.jobs, options.progress, ended);
        });
    std::vector<double> seconds(rows.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (std::size_t i = 0; i < groups[g].size(); ++i)
            seconds[groups[g][i]] = found[g][i];
    return seconds;
}

}  // namespace switchfold::validation
