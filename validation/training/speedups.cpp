// SPDX-License-Identifier: Apache-2.0
#include "validation/training/speedups.h"

#include "sim/machine/simulate.h"
#include "sim/machine/system_queries.h"
#include "sim/results/training.h"
#include "sim/workload/kernel_model.h"
#include "training/plan/step/plan_step.h"
#include "training/plan/step/planner_layers.h"
#include "validation/harness/number_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

namespace switchfold::validation {

namespace {

struct ComparedSpeedup {
    const StepRow* row;
    std::shared_ptr<const SystemParams> system;
    std::shared_ptr<const TrainingStep> step;
    std::shared_ptr<const TrainingStep> baseline;
    std::vector<std::uint32_t> chosen;  ///< by the planner here: devices per stage
};

ParallelPlan plain(const StepRow& row) {
    ParallelPlan plan;
    plan.micro_batch = row.plan.micro_batch;
    plan.datatype = Datatype::kFloat32;
    plan.optimizer = OptimizerKind::kMomentum;
    return plan;
}

ParallelPlan data_parallel(const StepRow& row) {
    ParallelPlan plan = plain(row);
    plan.data = row.gpus;
    return plan;
}

ParallelPlan pipeline(const StepRow& row) {
    ParallelPlan plan = plain(row);
    plan.pipeline = row.gpus;
    plan.schedule = "1f1b_async";
    plan.weights = WeightPolicy::kStash;
    plan.mini_batches = 3 * rounds_to_fill(plan) + 2 * row.gpus;
    return plan;
}

std::vector<std::uint32_t> replicas_of(const PlannedPipeline& pipeline) {
    std::vector<std::uint32_t> replicas;
    for (const PlannedStage& stage : pipeline.stages)
        replicas.push_back(stage.replicas);
    return replicas;
}

ComparedSpeedup compared(const StepRow& row, const SystemParams& system) {
    const KernelTimes times(gpu_rates(*system.gpu));
    const auto planned = [&](const ParallelPlan& plan) {
        return std::make_shared<const TrainingStep>(*row.network, times, plan);
    };
    ComparedSpeedup c{&row, std::make_shared<const SystemParams>(system), {}, {}, {}};
    PartitionOptions options;
    options.workers = row.gpus;
    options.levels = {{row.gpus, static_cast<double>(bandwidth_between(system).count())}};
    options.memory = static_cast<double>(system.gpu->memory.capacity.count());
    ParallelPlan plan = pipeline(row);
    const auto layers = planner_layers(*row.network, times, plan);
    const auto own = plan_pipeline(layers, options);
    if (own)
        c.chosen = replicas_of(*own);
    options.replicas = row.stages;
    const auto given = row.stages.empty() ? own : plan_pipeline(layers, options);
    const bool replicas_only = row.plan.schedule == "data_parallel" || !given ||
                               (row.stages.empty() && given->stages.size() == 1);
    if (!replicas_only) {
        use(*given, plan);
        const std::uint32_t turns = rounds_of_replicas(plan);
        plan.mini_batches = (plan.mini_batches + turns - 1) / turns * turns;
    }
    c.step = planned(replicas_only ? data_parallel(row) : plan);
    c.baseline = planned(row.over == StepRow::Over::kOneGpu ? plain(row) : data_parallel(row));
    return c;
}

/// Samples per second.
double pace(const TrainingStep& step, const SystemParams& system, const JobProgress& progress) {
    const ExecutionGraph graph = plan_step(step);
    SimulateOptions options;
    options.progress = progress;
    return graph.training.samples / round_us(graph, simulate(system, graph, {}, options)) * 1e6;
}

std::string told(const std::vector<std::uint32_t>& stages) {
    return stages.size() == 1 ? "data parallelism" : fmt::format("{}", fmt::join(stages, "-"));
}

/// Share of pairs of rows whose order by speed-up is reversed in the simulation.
double misordered(const std::vector<const Case*>& cases) {
    double pairs = 0;
    double wrong = 0;
    for (const Case* a : cases)
        for (const Case* b : cases)
            if (a->measured > b->measured) {
                ++pairs;
                wrong += a->simulated <= b->simulated ? 1 : 0;
            }
    return pairs > 0 ? wrong / pairs : 0;
}

}  // namespace

bool states_speedup(const StepRow& row) {
    return row.speedup > 0 && row.seconds == 0 && row.over != StepRow::Over::kOther;
}

void compare_speedups(
    const std::vector<StepRow>& rows, const Machines& machines, const SuiteOptions& options,
    SuiteResult& result) {
    std::vector<ComparedSpeedup> all;
    for (const StepRow& row : rows) {
        if (!states_speedup(row))
            continue;
        std::string why = row.why;
        MachineMatch match;
        if (why.empty()) {
            match = machine_of(row, machines);
            why = match.why;
        }
        if (why.empty())
            all.push_back(compared(row, match.machine->system));
        else
            result.unmatched.push_back({row.id, why});
    }
    std::vector<NumberJob> jobs;
    for (const ComparedSpeedup& c : all)
        for (const auto& step : {c.step, c.baseline})
            jobs.push_back({c.row->id, [&c, step](const JobProgress& progress) {
                                return pace(*step, *c.system, progress);
                            }});
    const std::vector<double> paces = run_number_jobs(jobs, options);
    const std::size_t from = result.cases.size();
    double plans = 0;
    double others = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const StepRow& row = *all[i].row;
        Case c;
        c.id = row.id;
        c.group = fmt::format(
            "speed-up over {}, {}",
            row.over == StepRow::Over::kOneGpu ? "one GPU" : "data parallelism", row.source);
        c.quantity = "speed-up";
        c.unit = "1";
        c.measured = row.speedup;
        c.simulated = paces[2 * i] / paces[2 * i + 1];
        c.how = fmt::format(
            "{} on {}; our planner: {}", row.network->name, all[i].system->name,
            told(all[i].chosen));
        result.cases.push_back(std::move(c));
        if (row.chosen) {
            const std::vector<std::uint32_t> published =
                row.stages.empty() ? std::vector<std::uint32_t>{row.gpus} : row.stages;
            ++plans;
            others += published == all[i].chosen ? 0 : 1;
        }
    }
    if (!all.empty())
        result.notes.emplace_back(
            "speed-ups over data parallelism: that of Harlap et al. goes through a parameter "
            "server "
            "over sockets, ours through NCCL's rings beside the backward pass");
    std::map<std::string, std::vector<const Case*>> groups;
    for (std::size_t i = from; i < result.cases.size(); ++i)
        groups[result.cases[i].group].push_back(&result.cases[i]);
    for (const auto& [group, cases] : groups) {
        result.verdicts.push_back({group + ": pairs in another order", misordered(cases), 0});
    }
    if (plans > 0)
        result.verdicts.push_back(
            {"plans of a published planner that ours does not choose", others / plans, 0});
}

}  // namespace switchfold::validation
