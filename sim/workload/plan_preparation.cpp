// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/plan_preparation.h"

#include "core/json.h"
#include "core/named_path.h"
#include "core/text_cells.h"
#include "sim/workload/kernel_model.h"
#include "sim/workload/memory_check.h"
#include "sim/workload/memory_settings.h"
#include "sim/workload/offloaded_plan.h"
#include "sim/workload/placement_plan.h"
#include "sim/workload/product_precision.h"
#include "sim/workload/training_workload.h"
#include "training/plan/average/averaged_step.h"
#include "training/plan/division/replica_times.h"
#include "training/plan/schedule/schedule_file.h"
#include "training/plan/step/plan_memory.h"
#include "training/plan/step/planner_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

namespace switchfold {

namespace {

/// Finds a layer by name or number.
std::optional<std::uint32_t> layer_named(const Network& network, const std::string& word) {
    const auto found =
        std::find_if(network.layers.begin(), network.layers.end(), [&](const Layer& layer) {
            return layer.name == word;
        });
    if (found != network.layers.end())
        return static_cast<std::uint32_t>(found - network.layers.begin());
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size())
        return number;
    return {};
}

std::string did_you_mean(const Network& network, const std::string& word) {
    std::vector<std::string_view> names;
    for (const Layer& layer : network.layers)
        names.emplace_back(layer.name);
    const std::string near = nearest(word, names);
    return near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near);
}

ParallelPlan plan_of(
    const TrainingWorkloadParams& workload, const Network& network,
    const std::filesystem::path& folder, PlanProblems& problems) {
    const PlanParams& p = *workload.plan;
    ParallelPlan plan = plan_without_network(workload);
    if (p.schedule.ends_with(".json"))
        plan.given =
            std::make_shared<PipelineSchedule>(read_schedule(path_from(folder, p.schedule)));
    if (p.partition.equal && problems_of(plan, network).empty()) {
        const std::uint32_t stages = stages_of(plan);
        plan.partition = equal_partition(network, stages);
        if (plan.partition.empty())
            problems.emplace_back(
                "/partition",
                fmt::format(
                    "is equal, and the blocks of {} do not divide into {} stages evenly",
                    network.name, stages));
    }
    for (std::size_t i = 0; i < p.partition.first.size(); ++i) {
        const std::string& word = p.partition.first[i];
        if (const auto layer = layer_named(network, word))
            plan.partition.push_back(*layer);
        else
            problems.emplace_back(
                fmt::format("/partition/{}", i), fmt::format(
                                                     "names no layer of {}: \"{}\"{}", network.name,
                                                     word, did_you_mean(network, word)));
    }
    return plan;
}

/// Sets the partition found by PipeDream's planner, and the replicas of stages if it may choose
/// them.
void plan_partition(
    const PlanParams& params, const Network& network, const KernelTimes& times, Bytes memory,
    ParallelPlan& plan, PlanProblems& problems) {
    if (!(params.partition.planner || params.partition.replicated) || !problems.empty())
        return;
    if (params.partition.replicated && (plan.schedule != "1f1b_async" || !plan.replicas.empty())) {
        problems.emplace_back(
            "/partition",
            "is replicated, which chooses replicas of 1f1b_async; expected that schedule, and no "
            "replicas given");
        return;
    }
    PartitionOptions options;
    if (!params.partition.replicated)
        options.replicas =
            plan.replicas.empty() ? std::vector<std::uint32_t>(stages_of(plan), 1) : plan.replicas;
    options.workers = params.partition.replicated
                          ? plan.pipeline
                          : std::accumulate(options.replicas.begin(), options.replicas.end(), 0U);
    options.levels = {{options.workers, static_cast<double>(params.link_bandwidth.count())}};
    options.memory = static_cast<double>(memory.count());
    const auto found = plan_pipeline(planner_layers(network, times, plan), options);
    if (found) {
        use(*found, plan);
        // Rounded to a multiple that the chosen replicas share evenly.
        const std::uint32_t turns = rounds_of_replicas(plan);
        if (params.partition.replicated)
            plan.mini_batches = (plan.mini_batches + turns - 1) / turns * turns;
    } else {
        problems.emplace_back(
            "/partition",
            fmt::format("finds no stages for {} devices that fit in memory", options.workers));
    }
}

/// "the planner chose stages of 7 devices from conv1 on, 1 from fc6 on".
std::string told_stages(const ParallelPlan& plan, const Network& network) {
    if (plan.partition.size() == 1)
        return fmt::format(
            "the planner chose one stage on {} devices: data parallelism", plan.pipeline);
    std::string text = "the planner chose stages of";
    for (std::size_t i = 0; i < plan.partition.size(); ++i)
        text += fmt::format(
            "{} {} device{} from {} on", i == 0 ? "" : ",",
            plan.replicas.empty() ? 1 : plan.replicas[i],
            !plan.replicas.empty() && plan.replicas[i] > 1 ? "s" : "",
            network.layers[plan.partition[i]].name);
    return text;
}

/// Kernel times for each kind of GPU among the plan's ranks.
std::vector<std::optional<KernelTimes>> kernel_times_of(
    const TrainingWorkloadParams& workload, const RankGpus& gpus,
    const std::set<std::uint32_t>& kinds, const std::filesystem::path& folder,
    PlanProblems& problems) {
    std::vector<std::optional<KernelTimes>> times(gpus.kinds().size());
    for (const std::uint32_t kind : kinds) {
        const GpuParams& gpu = *gpus.kinds()[kind];
        if (const std::string why = why_no_kernel_times(gpu); !why.empty())
            problems.emplace_back("", fmt::format("is timed by the GPU, and {} {}", gpu.name, why));
        else if (std::string lacks = why_no_products(gpu, workload.precision); !lacks.empty())
            problems.emplace_back("", std::move(lacks));
        else
            times[kind] = kernel_times(gpu, workload.kernel_times, folder);
    }
    if (kinds.size() > 1 && !workload.kernel_times.empty())
        problems.emplace_back(
            "",
            "has kernel_times, which are of one GPU, and ranks with several kinds; expected none");
    return times;
}

/// Rejects settings that unequal ranks do not support.
void refuse_unequal(const PlanParams& params, bool several_kinds, PlanProblems& problems) {
    if (several_kinds && (params.partition.planner || params.partition.replicated))
        problems.emplace_back(
            "/partition",
            "is for devices that are alike, and ranks have several kinds of GPUs; expected auto, "
            "equal or the first layers of stages");
}

/// What averaging independently training replicas refuses of a plan.
void check_average(const PlanParams& params, const ParallelPlan& plan, PlanProblems& found) {
    if (never_flushes(plan))
        found.emplace_back(
            "/average", "is for steps, and the schedule never flushes; expected one that does");
    for (auto& problem : problems_of(*params.average, plan))
        found.push_back(std::move(problem));
}

}  // namespace

PlanPreparation::PlanPreparation(
    TrainingWorkloadParams workload, const RankGpus& gpus, std::filesystem::path folder,
    MemoryCheck check) :
    workload_(std::move(workload)), gpus_(gpus), folder_(std::move(folder)), check_(check) {}

void PlanPreparation::network() {
    if (!goes_on())
        return;
    kinds_ = gpus_.used(ranks_of(params()));
    times_ = kernel_times_of(workload_, gpus_, kinds_, folder_, problems_);
    if (problems_.empty())
        network_ = network_of(workload_, folder_);
}

/// The workload of a replica with as many samples as each has on average.
TrainingWorkloadParams PlanPreparation::with_equal_shares() {
    TrainingWorkloadParams shared = workload_;
    if (params().global_batch > 0) {
        if (params().accumulate > 1)
            problems_.emplace_back(
                "/accumulate",
                "is given, and global_batch beside it, from which it follows; expected one of the "
                "two");
        const std::vector<std::uint32_t>& given = params().division.samples;
        const MicroBatches parts = micro_batches(
            given.empty() ? even_share(params()) : *std::max_element(given.begin(), given.end()),
            params().micro_batch);
        shared.plan->micro_batch = parts.samples;
        shared.plan->accumulate = parts.count;
        shared.plan->last_micro_batch = parts.last;
    } else if (params().division.balanced || !params().division.samples.empty()) {
        problems_.emplace_back(
            "/division", "divides a global_batch, and there is none; expected global_batch");
    }
    return shared;
}

void PlanPreparation::plan() {
    if (!goes_on())
        return;
    const TrainingWorkloadParams shared = with_equal_shares();
    plan_ = plan_of(shared, network_, folder_, problems_);
    plan_.node_ranks = gpus_.in_order_on_machines();
    if (problems_.empty())
        problems_ = problems_of(plan_, network_);
    if (divides())
        refuse_unequal(params(), kinds_.size() > 1, problems_);
    if (params().average && problems_.empty())
        check_average(params(), plan_, problems_);
    if (params().average && !divides())
        plan_.data = 1;
    plan_partition(
        params(), network_, first_times(), first_gpu().memory.for_plans(), plan_, problems_);
}

void PlanPreparation::tasks() {
    if (problems_.empty() && params().placement) {
        if (auto cut = prepare_placement(workload_, gpus_, folder_, problems_, check_))
            prepared_ = std::move(*cut);
        return;
    }
    if (!goes_on())
        return;
    prepared_.ranks = ranks_of(params());
    if (params().average)
        prepared_.average = *params().average;
    std::vector<std::string>& notes = prepared_.notes;
    notes.emplace_back(
        "a generated step: kernel times come from the model of docs/contention.md#a-kernel-alone");
    if (divides())
        divide();
    if (divides() && !prepared_.divided)
        return;
    for (std::string told :
         {told_normalisation(plan_, network_), told_products(workload_.precision, plan_, network_)})
        if (!told.empty())
            notes.push_back(std::move(told));
    prepared_.step = std::make_unique<TrainingStep>(
        std::move(network_), KernelTimes(first_times()), std::move(plan_));
    if (params().partition.replicated)
        notes.push_back(told_stages(prepared_.step->plan(), prepared_.step->network()));
    choose_memory();
}

/// Divides the batch over unlike replicas.
void PlanPreparation::divide() {
    prepared_.divided = divided_plan(params(), plan_, network_, gpus_, times_, check_, problems_);
    if (!prepared_.divided)
        return;
    prepared_.notes.insert(
        prepared_.notes.end(), prepared_.divided->notes.begin(), prepared_.divided->notes.end());
    if (prepared_.average)
        plan_.data = 1;
}

/// What stays on the GPU, or whether all of it fits.
void PlanPreparation::choose_memory() {
    if (params().memory)
        use_memory(gpus_, first_gpu(), params(), prepared_, problems_);
    else if (prepared_.step->plan().recompute == Recompute::kExact)
        problems_.emplace_back(
            "/recompute",
            "is exact, which a plan of memory chooses; expected memory beside it, or none, "
            "selective or full");
    else if (!divides())
        prepared_.notes.push_back(need_memory(first_gpu(), *prepared_.step, check_, problems_));
}

}  // namespace switchfold
