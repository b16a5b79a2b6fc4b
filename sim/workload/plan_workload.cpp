// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/plan_workload.h"

#include "core/json.h"
#include "core/named_path.h"
#include "sim/workload/kernel_model.h"
#include "sim/workload/memory_check.h"
#include "sim/workload/memory_settings.h"
#include "sim/workload/offloaded_plan.h"
#include "sim/workload/placement_plan.h"
#include "sim/workload/product_precision.h"
#include "sim/workload/training_workload.h"
#include "training/memory/step/memory_step.h"
#include "training/placement/planned_cut.h"
#include "training/plan/average/averaged_step.h"
#include "training/plan/division/replica_times.h"
#include "training/plan/schedule/schedule_file.h"
#include "training/plan/step/plan_memory.h"
#include "training/plan/step/planner_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>
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

}  // namespace

ParallelPlan plan_without_network(const TrainingWorkloadParams& workload) {
    ParallelPlan plan;
    if (workload.plan)
        plan = *workload.plan;
    else
        plan.micro_batch = workload.batch;
    if (workload.plan)
        plan.launch_times = workload.plan->launches.value;
    // What a gate's function computes is a tensor of its own there.
    if (workload.plan && workload.plan->memory)
        plan.gate = GateKernels::kUnfused;
    plan.bucket = workload.bucket;
    plan.first_bucket = workload.first_bucket;
    plan.gradient = workload.gradient;
    plan.datatype =
        workload.precision == Precision::kSingle ? Datatype::kFloat32 : Datatype::kBfloat16;
    plan.products = recipe_of(workload.precision);
    return plan;
}

namespace {

ParallelPlan one_replica(ParallelPlan plan) {
    plan.data = 1;
    return plan;
}

}  // namespace

ExecutionGraph PreparedPlan::graph() const {
    if (cut)
        return average ? averaged_steps(one_replica(cut->plan()), replicas_apart(), *average)
                       : cut_step(*cut);
    if (divided && average)
        return averaged_steps(step->plan(), replicas_apart(), *average);
    if (divided)
        return graph_of_ranks(divided->by_rank);
    ExecutionGraph own = memory ? memory_step(*step, *memory) : plan_step(*step, devices.get());
    return average ? averaged_steps(*step, std::move(own), *average, ranks / ranks_of(step->plan()))
                   : own;
}

ExecutionGraph PreparedPlan::graph_of_ranks(const std::vector<const PlannedStep*>& by_rank) const {
    return memories.empty() ? plan_step(by_rank, devices.get()) : memory_step(by_rank, memories);
}

const PlannedMemory* PreparedPlan::planned() const {
    if (memory)
        return &*memory;
    if (devices)
        return &devices->busiest();
    const PlannedMemory* most = nullptr;
    if (divided && !memories.empty())
        for (const PlannedStep* of_rank : divided->by_rank) {
            if (of_rank == nullptr)
                continue;
            const PlannedMemory& planned = memories.at(of_rank);
            if (most == nullptr || planned.plan.moved_bytes() > most->plan.moved_bytes())
                most = &planned;
        }
    return most;
}

/// Replicas one by one; equal ones that follow each other together.
std::vector<ReplicaApart> PreparedPlan::replicas_apart() const {
    std::vector<ReplicaApart> apart;
    if (cut) {
        for (std::uint32_t data = 0; data < cut->plan().data; ++data)
            apart.push_back(cut_step_apart(*cut, data));
        return apart;
    }
    const RankMap replica(step->plan());
    ParallelPlan plan = step->plan();
    plan.data = ranks / replica.ranks();
    const RankMap all(plan);
    std::vector<const PlannedStep*> last;
    for (std::uint32_t data = 0; data < plan.data; ++data) {
        std::vector<const PlannedStep*> by_rank;
        for (std::uint32_t r = 0; r < replica.ranks(); ++r) {
            RankPlace place = replica.place(r);
            place.data = data;
            by_rank.push_back(divided->by_rank[all.rank(place)]);
        }
        if (by_rank == last) {
            ++apart.back().replicas;
            continue;
        }
        apart.push_back({held_weights(by_rank), graph_of_ranks(by_rank), 1});
        last = std::move(by_rank);
    }
    return apart;
}

namespace {

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

std::optional<PreparedPlan> prepare_plan(
    const TrainingWorkloadParams& workload, const RankGpus& gpus,
    const std::filesystem::path& folder, PlanProblems& problems, MemoryCheck check) {
    if (workload.plan->placement)
        return prepare_cut(workload, gpus, folder, problems, check);
    const std::set<std::uint32_t> kinds = gpus.used(ranks_of(*workload.plan));
    std::vector<std::optional<KernelTimes>> times =
        kernel_times_of(workload, gpus, kinds, folder, problems);
    if (!problems.empty())
        return {};
    Network network = network_of(workload, folder);
    const bool divides = workload.plan->global_batch > 0 || kinds.size() > 1;
    TrainingWorkloadParams shared = workload;
    if (workload.plan->global_batch > 0) {
        if (workload.plan->accumulate > 1)
            problems.emplace_back(
                "/accumulate",
                "is given, and global_batch beside it, from which it follows; expected one of the "
                "two");
        const std::vector<std::uint32_t>& given = workload.plan->division.samples;
        const MicroBatches parts = micro_batches(
            given.empty() ? even_share(*workload.plan)
                          : *std::max_element(given.begin(), given.end()),
            workload.plan->micro_batch);
        shared.plan->micro_batch = parts.samples;
        shared.plan->accumulate = parts.count;
        shared.plan->last_micro_batch = parts.last;
    } else if (workload.plan->division.balanced || !workload.plan->division.samples.empty()) {
        problems.emplace_back(
            "/division", "divides a global_batch, and there is none; expected global_batch");
    }
    ParallelPlan plan = plan_of(shared, network, folder, problems);
    if (problems.empty())
        problems = problems_of(plan, network);
    if (divides)
        refuse_unequal(*workload.plan, kinds.size() > 1, problems);
    if (workload.plan->average && problems.empty())
        check_average(*workload.plan, plan, problems);
    if (workload.plan->average && !divides)
        plan.data = 1;
    const GpuParams& gpu = *gpus.kinds()[*kinds.begin()];
    const KernelTimes& first = *times[*kinds.begin()];
    plan_partition(*workload.plan, network, first, gpu.memory.for_plans(), plan, problems);
    if (!problems.empty())
        return {};
    PreparedPlan prepared;
    prepared.ranks = ranks_of(*workload.plan);
    if (workload.plan->average)
        prepared.average = *workload.plan->average;
    prepared.notes.emplace_back(
        "a generated step: kernel times come from the model of docs/contention.md#a-kernel-alone");
    if (divides) {
        prepared.divided =
            divided_plan(*workload.plan, plan, network, gpus, times, check, problems);
        if (!prepared.divided)
            return {};
        prepared.notes.insert(
            prepared.notes.end(), prepared.divided->notes.begin(), prepared.divided->notes.end());
        if (prepared.average)
            plan.data = 1;
    }
    if (const std::string told = told_normalisation(plan, network); !told.empty())
        prepared.notes.push_back(told);
    if (const std::string told = told_products(workload.precision, plan, network); !told.empty())
        prepared.notes.push_back(told);
    prepared.step =
        std::make_unique<PlannedStep>(std::move(network), KernelTimes(first), std::move(plan));
    if (workload.plan->partition.replicated)
        prepared.notes.push_back(told_stages(prepared.step->plan(), prepared.step->network()));
    if (workload.plan->memory)
        use_memory(gpus, gpu, *workload.plan, prepared, problems);
    else if (prepared.step->plan().recompute == Recompute::kExact)
        problems.emplace_back(
            "/recompute",
            "is exact, which a plan of memory chooses; expected memory beside it, or none, "
            "selective or full");
    else if (!divides)
        prepared.notes.push_back(need_memory(gpu, *prepared.step, check, problems));
    if (!problems.empty())
        return {};
    return prepared;
}

}  // namespace switchfold
