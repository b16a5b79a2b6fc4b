// SPDX-License-Identifier: Apache-2.0
#include "validation/training/speedups.h"

#include "core/text_cells.h"
#include "sim/config/training_params.h"
#include "sim/machine/simulate.h"
#include "sim/machine/system_queries.h"
#include "sim/results/training.h"
#include "sim/workload/kernel_model.h"
#include "sim/workload/training_workload.h"
#include "training/plan/step/plan_step.h"
#include "training/plan/step/planner_layers.h"
#include "validation/harness/suite_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace switchfold::validation {

namespace {

/// What a row says: the plan in its note ("plan 7-1", "plan straight", "plan data parallel"), and
/// what its speed-up is relative to.
struct SpeedupRow {
    const MeasuredExperiment* row = nullptr;
    std::uint32_t gpus = 0;
    std::uint32_t samples = 0;
    bool over_one_gpu = false;
    bool data_parallel = false;
    std::vector<std::uint32_t> stages;  ///< devices of each; empty: chosen by a planner
    bool chosen = false;  ///< `stages` or data parallelism was chosen by the source's planner
    Network network;
};

void read_plan(const std::string& note, SpeedupRow& r) {
    constexpr std::string_view kPlan = "plan ";
    if (!note.starts_with(kPlan))
        return;
    const std::string words = note.substr(kPlan.size(), note.find(';') - kPlan.size());
    if (words == "straight")
        r.stages.assign(r.gpus, 1);
    r.chosen = words == "data parallel";
    if (words.find_first_not_of("0123456789-") != std::string::npos)
        return;
    r.chosen = true;
    for (const std::string& devices : split_text(words, '-'))
        r.stages.push_back(static_cast<std::uint32_t>(std::stoul(devices)));
}

struct ComparedSpeedup {
    SpeedupRow row;
    std::shared_ptr<const SystemParams> system;
    std::shared_ptr<const TrainingStep> step;
    std::shared_ptr<const TrainingStep> baseline;
    std::vector<std::uint32_t> chosen;  ///< by the planner here: devices per stage
};

ParallelPlan plain(const SpeedupRow& row) {
    ParallelPlan plan;
    plan.micro_batch = row.samples;
    plan.datatype = Datatype::kFloat32;
    plan.optimizer = OptimizerKind::kMomentum;
    return plan;
}

ParallelPlan data_parallel(const SpeedupRow& row) {
    ParallelPlan plan = plain(row);
    plan.data = row.gpus;
    return plan;
}

ParallelPlan pipeline(const SpeedupRow& row) {
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

ComparedSpeedup compared(SpeedupRow row_, const SystemParams& system) {
    ComparedSpeedup c{std::move(row_), std::make_shared<const SystemParams>(system), {}, {}, {}};
    const SpeedupRow& row = c.row;
    const KernelTimes times(gpu_rates(*system.gpu));
    const auto planned = [&](const ParallelPlan& plan) {
        return std::make_shared<const TrainingStep>(row.network, times, plan);
    };
    PartitionOptions options;
    options.workers = row.gpus;
    options.levels = {{row.gpus, static_cast<double>(bandwidth_between(system).count())}};
    options.memory = static_cast<double>(system.gpu->memory.capacity.count());
    ParallelPlan plan = pipeline(row);
    const auto layers = planner_layers(row.network, times, plan);
    const auto own = plan_pipeline(layers, options);
    if (own)
        c.chosen = replicas_of(*own);
    options.replicas = row.stages;
    const auto given = row.stages.empty() ? own : plan_pipeline(layers, options);
    const bool replicas_only =
        row.data_parallel || !given || (row.stages.empty() && given->stages.size() == 1);
    if (!replicas_only) {
        use(*given, plan);
        const std::uint32_t turns = rounds_of_replicas(plan);
        plan.mini_batches = (plan.mini_batches + turns - 1) / turns * turns;
    }
    c.step = planned(replicas_only ? data_parallel(row) : plan);
    c.baseline = planned(row.over_one_gpu ? plain(row) : data_parallel(row));
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

void compare_speedups(
    const std::vector<MeasuredExperiment>& rows, const SuiteOptions& options, SuiteResult& result) {
    std::vector<ComparedSpeedup> all;
    for (const MeasuredExperiment& row : rows) {
        if (!row.why.empty()) {
            result.unmatched.push_back({row.id, why_without_line(row)});
            continue;
        }
        const LoadedExperiment loaded = load_row(row);
        const auto& workload = *workload_of<TrainingWorkloadParams>(loaded.experiment);
        const SystemParams& system = *loaded.experiment.system;
        if (const std::string why = why_no_kernel_times(*system.gpu); !why.empty()) {
            result.unmatched.push_back({row.id, why});
            continue;
        }
        SpeedupRow r;
        r.row = &row;
        r.gpus = row.gpus;
        r.samples = workload.plan->micro_batch;
        r.over_one_gpu = row.record["speedup_over"] == "one GPU";
        r.data_parallel = row.record["schedule"] == "data_parallel";
        r.network = network_of(workload, row.file.parent_path());
        read_plan(row.record["note"], r);
        all.push_back(compared(std::move(r), system));
    }
    std::vector<Job> jobs;
    for (const ComparedSpeedup& c : all)
        for (const auto& step : {c.step, c.baseline})
            jobs.push_back({c.row.row->id, [&c, step](const JobProgress& progress) {
                                return value_bytes(pace(*step, *c.system, progress));
                            }});
    const std::vector<double> paces = values_of_suite<double>(jobs, options);
    const std::size_t from = result.cases.size();
    double plans = 0;
    double others = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const SpeedupRow& row = all[i].row;
        const MeasuredNumber& number = row.row->numbers.front();
        Case c;
        c.id = row.row->id;
        c.group = number.group;
        c.quantity = number.name;
        c.unit = number.unit;
        c.measured = number.value;
        c.simulated = paces[2 * i] / paces[2 * i + 1];
        c.how = fmt::format(
            "{} on {}; our planner: {}", row.network.name, all[i].system->name,
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
    for (const auto& [group, cases] : groups)
        result.verdicts.push_back({group + ": pairs in another order", misordered(cases), 0});
    if (plans > 0)
        result.verdicts.push_back(
            {"plans of a published planner that ours does not choose", others / plans, 0});
}

}  // namespace switchfold::validation
