// SPDX-License-Identifier: Apache-2.0
#include "workloads/plan/step/plan_step.h"

#include "sim/core/error.h"
#include "workloads/plan/schedule/replay.h"
#include "workloads/plan/step/rank_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace switchfold {

namespace {

/// Layers that a stage may begin with: those of a new block; all where there are no blocks.
std::vector<std::uint32_t> places_to_cut(const Network& network, std::uint32_t stages) {
    std::vector<std::uint32_t> places{0};
    for (std::uint32_t i = 1; i < network.layers.size(); ++i) {
        const std::uint32_t block = network.layers[i].block;
        if (block != network.layers[i - 1].block && block != kNoBlock)
            places.push_back(i);
    }
    if (places.size() >= stages)
        return places;
    places.clear();
    for (std::uint32_t i = 0; i < network.layers.size(); ++i)
        places.push_back(i);
    return places;
}

TrainingFacts
facts_of(const ParallelPlan& plan, const PipelineSchedule& schedule, const StageWork& work) {
    TrainingFacts facts;
    const double micro_batches = schedule.asynchronous ? 1 : plan.accumulate;
    facts.samples = micro_batches * plan.micro_batch * plan.data;
    for (std::uint32_t stage = 0; stage < work.stages(); ++stage)
        facts.flops +=
            work.model_flops(stage) * micro_batches * plan.tensor * plan.context * plan.data;
    if (schedule.asynchronous) {
        facts.rounds = plan.mini_batches;
        facts.warm_up = rounds_to_fill(plan);
    }
    return facts;
}

}  // namespace

std::uint32_t rounds_to_fill(const ParallelPlan& plan) {
    return 2 * plan.pipeline;
}

std::vector<std::uint32_t> balanced_partition(
    const Network& network,
    const KernelTimes& times,
    const ParallelPlan& plan,
    std::uint32_t stages) {
    const std::vector<std::uint32_t> places = places_to_cut(network, stages);
    const StageWork pieces(network, times, plan, places);
    const std::size_t n = places.size();
    std::vector<double> until(n + 1, 0);
    for (std::uint32_t i = 0; i < n; ++i)
        until[i + 1] = until[i] + pieces.seconds(PassKind::kForward, i) +
                       pieces.seconds(PassKind::kBackward, i);
    // longest[k][i]: the longest stage of the best way to cut the first i pieces into k.
    constexpr double kNever = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> longest(stages + 1, std::vector<double>(n + 1, kNever));
    std::vector<std::vector<std::size_t>> begins(stages + 1, std::vector<std::size_t>(n + 1, 0));
    longest[0][0] = 0;
    for (std::size_t k = 1; k <= stages; ++k) {
        for (std::size_t i = k; i <= n; ++i) {
            for (std::size_t j = k - 1; j < i; ++j) {
                const double found = std::max(longest[k - 1][j], until[i] - until[j]);
                if (found < longest[k][i]) {
                    longest[k][i] = found;
                    begins[k][i] = j;
                }
            }
        }
    }
    std::vector<std::uint32_t> first(stages);
    std::size_t end = n;
    for (std::size_t k = stages; k > 0; --k) {
        end = begins[k][end];
        first[k - 1] = places[end];
    }
    return first;
}

PlannedStep
planned_step(const Network& network, const KernelTimes& times, const ParallelPlan& plan) {
    SWITCHFOLD_CHECK(problems_of(plan, network).empty(), "a plan with problems");
    PlannedStep step;
    step.schedule = schedule_of(plan);
    step.work = std::make_unique<StageWork>(
        network,
        times,
        plan,
        plan.partition.empty() ? balanced_partition(network, times, plan, step.schedule.stages())
                               : plan.partition);
    if (!plan.given)
        step.schedule = schedule_of(plan, step.work.get());  // some are searched for these times
    const std::vector<std::string> wrong = problems_of(step.schedule);
    SWITCHFOLD_CHECK(wrong.empty(), "{}: {}", step.schedule.name, wrong.front());
    return step;
}

ExecutionGraph
plan_step(const Network& network, const KernelTimes& times, const ParallelPlan& plan) {
    const PlannedStep step = planned_step(network, times, plan);
    const PipelineSchedule& schedule = step.schedule;
    const StageWork& work = *step.work;
    const RankMap map(plan);
    const StepParts parts{plan, schedule, work, times, map};
    Communicators groups;
    NameTable names;
    ExecutionGraph graph;
    for (std::uint32_t rank = 0; rank < map.ranks(); ++rank)
        graph.ranks.push_back(
            std::make_shared<RankGraph>(RankWriter(parts, rank, groups, names).write()));
    graph.groups = groups.take();
    graph.names = names.take();
    graph.provenance.source = network.name;
    graph.provenance.synthetic = true;
    graph.provenance.world_size = map.ranks();
    graph.training = facts_of(plan, schedule, work);
    return graph;
}

}  // namespace switchfold
