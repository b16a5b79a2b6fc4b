// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/plan_workload.h"

#include "sim/core/json.h"
#include "workloads/plan/partition/planner.h"
#include "workloads/plan/schedule/schedule_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace switchfold {

namespace {

/// A layer by its name or number.
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

}  // namespace

ParallelPlan plan_of(
    const TrainingWorkloadParams& workload,
    const Network& network,
    const std::filesystem::path& folder,
    PlanProblems& problems) {
    const PlanParams& p = *workload.plan;
    ParallelPlan plan;
    plan.data = p.data;
    plan.context = p.context;
    plan.tensor = p.tensor;
    plan.pipeline = p.pipeline;
    plan.expert = p.expert;
    plan.sequence = p.sequence;
    plan.sharding = p.sharding;
    plan.micro_batch = p.micro_batch;
    plan.accumulate = p.accumulate;
    plan.recompute = p.recompute;
    plan.schedule = p.schedule;
    if (p.schedule.ends_with(".json"))
        plan.given = std::make_shared<PipelineSchedule>(read_schedule(folder / p.schedule));
    plan.chunks = p.chunks;
    plan.replicas = p.replicas;
    plan.mini_batches = p.mini_batches;
    plan.update_every = p.update_every;
    plan.weights = p.weights;
    plan.messages = p.messages;
    plan.attention = p.attention;
    plan.overlap_gradients = p.overlap_gradients;
    plan.adam = p.optimizer == OptimizerKind::kAdam;
    plan.bucket = workload.bucket;
    plan.first_bucket = workload.first_bucket;
    plan.gradient = workload.gradient;
    plan.datatype =
        workload.precision == Precision::kHalf ? Datatype::kBfloat16 : Datatype::kFloat32;
    if (p.partition.equal && problems_of(plan, network).empty()) {
        const std::uint32_t stages = schedule_of(plan).stages();
        plan.partition = equal_partition(network, stages);
        if (plan.partition.empty())
            problems.emplace_back(
                "/partition",
                fmt::format(
                    "is equal, and the blocks of {} do not part into {} stages evenly",
                    network.name,
                    stages));
    }
    for (std::size_t i = 0; i < p.partition.first.size(); ++i) {
        const std::string& word = p.partition.first[i];
        if (const auto layer = layer_named(network, word))
            plan.partition.push_back(*layer);
        else
            problems.emplace_back(
                fmt::format("/partition/{}", i),
                fmt::format(
                    "names no layer of {}: \"{}\"{}",
                    network.name,
                    word,
                    did_you_mean(network, word)));
    }
    return plan;
}

void plan_partition(
    const PlanParams& params,
    const Network& network,
    const KernelTimes& times,
    Bytes memory,
    ParallelPlan& plan,
    PlanProblems& problems) {
    if (!params.partition.planner || !problems.empty())
        return;
    const std::uint32_t stages = schedule_of(plan).stages();
    std::vector<std::uint32_t> each(network.layers.size());
    std::iota(each.begin(), each.end(), 0U);
    const StageWork work(network, times, plan, each);
    const double element = static_cast<double>(size_of(plan.datatype).count());
    std::vector<PlannerLayer> layers;
    for (std::uint32_t i = 0; i < each.size(); ++i)
        layers.push_back(
            {work.seconds(PassKind::kForward, i) + work.seconds(PassKind::kBackward, i),
             i + 1 < each.size() ? static_cast<double>(work.message(i).count()) : 0.0,
             work.parameters(i) * element,
             work.kept(i).until_input_gradient});
    PlannerOptions options;
    options.workers = stages;
    options.levels = {{stages, static_cast<double>(params.link_bandwidth.count())}};
    options.memory = static_cast<double>(memory.count());
    options.straight = true;
    const auto found = plan_pipeline(layers, options);
    if (!found) {
        problems.emplace_back(
            "/partition", fmt::format("finds no {} stages that fit in memory", stages));
        return;
    }
    for (const PlannedStage& stage : found->stages)
        plan.partition.push_back(stage.first);
}

}  // namespace switchfold
