// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/placement_plan.h"

#include "sim/workload/kernel_model.h"
#include "sim/workload/memory_check.h"
#include "sim/workload/product_precision.h"
#include "sim/workload/training_workload.h"
#include "training/placement/placement_memory.h"
#include "training/placement/planned_cut.h"

#include <fmt/format.h>

#include <algorithm>
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
    refuse("/average", params.average.has_value(), "none");
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

std::string told_method(const PlannedPlacement& cut) {
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

void tell(const PlannedPlacement& cut, std::vector<std::string>& notes) {
    const FoundCut& found = cut.found();
    const PlacementGraph& graph = cut.graph();
    if (graph.parts == 1)
        return;
    notes.push_back(fmt::format(
        "cut into {} parts ({}): about {} a step without gradients' travel; no division into so "
        "many takes less than {}",
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

std::optional<PreparedPlan> prepare_cut(
    const TrainingWorkloadParams& workload, const RankGpus& gpus,
    const std::filesystem::path& folder, PlanProblems& problems, MemoryCheck check) {
    const PlanParams& params = *workload.plan;
    const PlacementChoice choice = params.placement->choice();
    const std::set<std::uint32_t> kinds = gpus.used(params.data * choice.gpus_used());
    const GpuParams& gpu = *gpus.kinds()[*kinds.begin()];
    refuse_others(params, problems);
    if (kinds.size() > 1)
        problems.emplace_back(
            "/placement", "is for GPUs that are alike, and ranks have several kinds; expected one");
    if (const std::string why = why_no_kernel_times(gpu); !why.empty())
        problems.emplace_back("", fmt::format("is timed by the GPU, and {} {}", gpu.name, why));
    if (std::string lacks = why_no_products(gpu, workload.precision); !lacks.empty())
        problems.emplace_back("", std::move(lacks));
    if (!problems.empty())
        return {};
    Network network = network_of(workload, folder);
    ParallelPlan plan = plan_without_network(workload);
    plan.gate = GateKernels::kUnfused;  // its two layers may stand on two GPUs
    problems = problems_of(choice, plan, network);
    if (!problems.empty())
        return {};
    const PlacementMachine machine{
        static_cast<double>(params.link_bandwidth.count()),
        static_cast<double>(gpu.memory.for_plans().count())};
    PreparedPlan prepared;
    prepared.ranks = params.data * choice.gpus_used();
    prepared.cut = PlannedPlacement::make(
        std::move(network), kernel_times(gpu, workload.kernel_times, folder), std::move(plan),
        choice, machine, problems);
    if (!prepared.cut)
        return {};
    prepared.notes.emplace_back(
        "a generated step: kernels take what the model of docs/kernel_times.md gives them");
    if (const std::string told = told_normalisation(prepared.cut->plan(), prepared.cut->network());
        !told.empty())
        prepared.notes.push_back(told);
    tell(*prepared.cut, prepared.notes);
    const PlannedPlacement& cut = *prepared.cut;
    prepared.notes.push_back(
        "the plan needs up to " +
        check_memory(
            gpu, cut.plan(),
            cut_memory(
                cut.network(), cut.graph(), cut.work().layers(), cut.plan(), cut.found().parts),
            check, problems));
    if (!problems.empty())
        return {};
    return prepared;
}

}  // namespace switchfold
