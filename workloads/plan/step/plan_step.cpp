// SPDX-License-Identifier: Apache-2.0
#include "workloads/plan/step/plan_step.h"

#include "sim/core/error.h"
#include "workloads/plan/schedule/replay.h"
#include "workloads/plan/step/plan_memory.h"
#include "workloads/plan/step/rank_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

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

TrainingFacts facts_of(const PlannedStep& step) {
    const ParallelPlan& plan = step.plan();
    const StageWork& work = step.work();
    TrainingFacts facts;
    const double micro_batches = step.schedule().asynchronous ? 1 : plan.accumulate;
    facts.samples = micro_batches * plan.micro_batch * plan.data;
    for (std::uint32_t stage = 0; stage < work.stages(); ++stage)
        facts.flops +=
            work.model_flops(stage) * micro_batches * plan.tensor * plan.context * plan.data;
    if (step.schedule().asynchronous) {
        facts.rounds = plan.mini_batches;
        facts.warm_up = rounds_to_fill(plan);
    }
    return facts;
}

}  // namespace

std::uint32_t rounds_to_fill(const ParallelPlan& plan) {
    return 2 * plan.pipeline;
}

std::uint32_t rounds_of_replicas(const ParallelPlan& plan) {
    std::uint32_t rounds = 1;
    for (const std::uint32_t replicas : plan.replicas)
        rounds = std::lcm(rounds, std::max(1U, replicas));
    return rounds;
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

PlannedStep::PlannedStep(Network network, KernelTimes times, ParallelPlan plan) :
    network_(std::move(network)),
    times_(std::move(times)),
    plan_(std::move(plan)),
    schedule_(schedule_of(plan_)) {
    if (plan_.partition.empty())
        plan_.partition = balanced_partition(network_, times_, plan_, schedule_.stages());
    work_ = std::make_unique<StageWork>(network_, times_, plan_, plan_.partition);
    if (!plan_.given)
        schedule_ = schedule_of(plan_, work_.get());  // some are searched for these times
    const std::vector<std::string> wrong = problems_of(schedule_);
    SWITCHFOLD_CHECK(wrong.empty(), "{}: {}", schedule_.name, wrong.front());
}

ExecutionGraph plan_step(const PlannedStep& step) {
    const RankMap map(step.plan());
    const StepParts parts(step, map);
    Communicators groups;
    NameTable names;
    std::vector<RankGraph> ranks;
    for (std::uint32_t rank = 0; rank < map.ranks(); ++rank)
        ranks.push_back(RankWriter(parts, rank, groups, names).write());
    hold_all_along(step, ranks);
    return graph_of(step, std::move(ranks), std::move(groups), std::move(names));
}

void hold_all_along(const PlannedStep& step, std::vector<RankGraph>& ranks) {
    const RankMap map(step.plan());
    const std::vector<MemoryBytes> held = held_all_along(step);
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
        ranks[rank].held = held[map.place(rank).device];
}

ExecutionGraph graph_of(
    const PlannedStep& step, std::vector<RankGraph> ranks, Communicators groups, NameTable names) {
    ExecutionGraph graph;
    for (RankGraph& rank : ranks)
        graph.ranks.push_back(std::make_shared<const RankGraph>(std::move(rank)));
    graph.groups = groups.take();
    graph.names = names.take();
    graph.provenance.source = step.network().name;
    graph.provenance.synthetic = true;
    graph.provenance.world_size = static_cast<std::uint32_t>(graph.ranks.size());
    graph.training = facts_of(step);
    return graph;
}

}  // namespace switchfold
