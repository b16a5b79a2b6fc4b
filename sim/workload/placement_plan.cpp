// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/placement_plan.h"

#include "sim/workload/kernel_model.h"
#include "sim/workload/memory_check.h"
#include "sim/workload/product_precision.h"
#include "sim/workload/training_workload.h"
#include "training/placement/placed_step.h"
#include "training/placement/placement_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace switchfold {

namespace {

/// Rejects settings of a workload's plan outside ParallelPlan that cannot be combined with a cut.
void refuse_others(const PlanParams& params, PlanProblems& problems) {
    const auto refuse = [&](const char* key, bool asked, const char* expected) {
        if (asked)
            problems.emplace_back(
                key, fmt::format("does not go with a placement; expected {}", expected));
    };
    refuse("/global_batch", params.global_batch > 0, "0: micro_batch and accumulate say it");
    refuse("/memory", params.memory.has_value(), "none");
    refuse(
        "/partition",
        !params.partition.first.empty() || params.partition.equal || params.partition.planner ||
            params.partition.replicated,
        "auto: the cut says where layers are");
    refuse("/replicas", !params.replicas.empty(), "none");
}

/// The GPU on which the network takes longest.
std::uint32_t slowest_of(
    const std::map<std::uint32_t, KernelTimes>& times, const Network& network,
    const ParallelPlan& plan) {
    if (times.size() == 1)
        return times.begin()->first;
    std::pair<double, std::uint32_t> most{-1, 0};
    for (const auto& [kind, of_gpu] : times) {
        const StageWork work(network, of_gpu, plan, {0});
        most = std::max(
            most,
            {work.seconds(PassKind::kForward, 0) + work.seconds(PassKind::kBackward, 0), kind});
    }
    return most.second;
}

std::string in_milliseconds(double seconds) {
    return fmt::format("{:.4g} ms", seconds * 1e3);
}

/// "lstm.1, head, attention.qkv and 9 more": the layers with most work by name.
std::string told_layers(const PlacementGraph& graph, const std::vector<std::uint32_t>& layers) {
    if (layers.empty())
        return "nothing";
    std::vector<std::uint32_t> heaviest(layers);
    std::stable_sort(heaviest.begin(), heaviest.end(), [&](std::uint32_t a, std::uint32_t b) {
        return graph.work(a) > graph.work(b);
    });
    constexpr std::size_t kNamed = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(kNamed, heaviest.size()); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", graph.nodes[heaviest[i]].name);
    if (heaviest.size() > kNamed)
        text += fmt::format(" and {} more", heaviest.size() - kNamed);
    return text;
}

std::string told_method(const PlacedStep& cut) {
    if (!cut.choice().layers.empty())
        return "given";
    switch (cut.choice().method) {
    case PlacementMethod::kExact:
        return "exact";
    case PlacementMethod::kList:
        return "list scheduling";
    case PlacementMethod::kBest:
        return "best";
    }
    return "";
}

void tell(const PlacedStep& cut, std::vector<std::string>& notes) {
    const FoundPlacement& found = cut.found();
    const PlacementGraph& graph = cut.graph();
    if (graph.parts == 1)
        return;
    notes.push_back(fmt::format(
        "cut into {} parts ({}): about {} a step without exchange of gradients; no division into "
        "so many takes less than {}",
        graph.parts, told_method(cut), in_milliseconds(found.seconds),
        in_milliseconds(found.step_bound)));
    std::string busy = fmt::format("its busiest part takes {}", in_milliseconds(found.busiest));
    if (found.down_sets > 0)
        busy += fmt::format(
            "; {} is the least of all divisions whose messages go one way, by {} down-sets",
            in_milliseconds(found.busiest_bound), found.down_sets);
    if (found.estimates > 0)
        busy += fmt::format(
            "; of {} divisions that were put in order none is shorter{}", found.estimates,
            found.all_estimated ? ", and moving neighbouring layers helps no more" : "");
    notes.push_back(std::move(busy));
    const std::vector<PartLoad> loads = loads_of(graph, found.parts);
    for (std::uint32_t part = 0; part < graph.parts; ++part) {
        std::vector<std::uint32_t> layers;
        for (std::uint32_t i = 0; i < found.parts.size(); ++i)
            if (found.parts[i] == part)
                layers.push_back(i);
        notes.push_back(fmt::format(
            "part {} on GPU {}: {}; {} of kernels, {:.3g} MB of messages each way", part,
            graph.gpu_of(part), told_layers(graph, layers), in_milliseconds(loads[part].work),
            loads[part].bytes * graph.micro_batches * 1e-6));
    }
}

}  // namespace

std::optional<PreparedPlan> prepare_placement(
    const TrainingWorkloadParams& workload, const RankGpus& gpus,
    const std::filesystem::path& folder, PlanProblems& problems, MemoryCheck check) {
    const PlanParams& params = *workload.plan;
    const PlacementChoice choice = params.placement->choice();
    const std::uint32_t ranks = params.data * params.context * params.tensor * choice.gpus_used();
    const std::set<std::uint32_t> kinds = gpus.used(ranks);
    refuse_others(params, problems);
    for (const std::uint32_t kind : kinds) {
        const GpuParams& gpu = *gpus.kinds()[kind];
        if (const std::string why = why_no_kernel_times(gpu); !why.empty())
            problems.emplace_back("", fmt::format("is timed by the GPU, and {} {}", gpu.name, why));
        if (std::string lacks = why_no_products(gpu, workload.precision); !lacks.empty())
            problems.emplace_back("", std::move(lacks));
    }
    if (!problems.empty())
        return {};
    Network network = network_of(workload, folder);
    ParallelPlan plan = plan_without_network(workload);
    plan.node_ranks = gpus.in_order_on_machines();
    plan.gate = GateKernels::kUnfused;  // its two layers may stand on two GPUs
    problems = problems_of(choice, plan, network);
    if (problems.empty())
        problems = problems_of(plan, network);
    if (params.average && problems.empty())
        problems = problems_of(*params.average, plan);
    if (!problems.empty())
        return {};
    std::map<std::uint32_t, KernelTimes> times;
    for (const std::uint32_t kind : kinds)
        times.emplace(kind, kernel_times(*gpus.kinds()[kind], workload.kernel_times, folder));
    const std::uint32_t slowest = slowest_of(times, network, plan);
    const GpuParams& gpu = *gpus.kinds()[slowest];
    const PlacementMachine machine{
        static_cast<double>(params.link_bandwidth.count()),
        static_cast<double>(gpu.memory.for_plans().count())};
    PreparedPlan prepared;
    prepared.ranks = ranks;
    if (params.average)
        prepared.average = *params.average;
    auto made = PlacedStep::make(
        std::move(network), KernelTimes(times.at(slowest)), std::move(plan), choice, machine,
        problems);
    if (!made)
        return {};
    std::map<std::uint32_t, std::uint32_t> numbers{{slowest, 0}};
    for (const std::uint32_t kind : kinds)
        if (kind != slowest)
            numbers.emplace(kind, made->add_kind(KernelTimes(times.at(kind))));
    if (kinds.size() > 1) {
        std::vector<std::uint32_t> by_rank;
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            by_rank.push_back(numbers.at(gpus.kind(rank)));
        made->set_kinds(std::move(by_rank));
        prepared.notes.push_back(fmt::format(
            "the network is divided as if every GPU were {}, on which it takes longest", gpu.name));
    }
    prepared.cut = std::move(made);
    prepared.notes.emplace_back(
        "a generated step: kernel times come from the model of docs/contention.md#a-kernel-alone");
    if (const std::string told = told_normalisation(prepared.cut->plan(), prepared.cut->network());
        !told.empty())
        prepared.notes.push_back(told);
    tell(*prepared.cut, prepared.notes);
    const PlacedStep& cut = *prepared.cut;
    for (const std::uint32_t kind : kinds)
        prepared.notes.push_back(fmt::format(
            "{}the plan needs up to {}",
            kinds.size() > 1 ? fmt::format("on {} ", gpus.kinds()[kind]->name) : "",
            check_memory(
                *gpus.kinds()[kind], cut.plan(),
                placement_memory(
                    cut.network(), cut.graph(), cut.work().layers(), cut.plan(), cut.found().parts),
                check, problems)));
    if (!problems.empty())
        return {};
    return prepared;
}

}  // namespace switchfold
