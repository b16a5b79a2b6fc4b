// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/plan_step.h"

#include "core/error.h"
#include "training/plan/schedule/replay.h"
#include "training/plan/step/plan_memory.h"
#include "training/plan/step/rank_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace switchfold {

namespace {

/// Training facts of a step of `replicas` replicas.
TrainingFacts facts_of(const TrainingStep& step, double replicas) {
    const ParallelPlan& plan = step.plan();
    const StageWork& work = step.work();
    TrainingFacts facts;
    facts.samples = step.samples() * replicas;
    const double micro_batches = static_cast<double>(step.samples()) / plan.micro_batch;
    for (std::uint32_t stage = 0; stage < work.stages(); ++stage)
        facts.flops +=
            work.model_flops(stage) * micro_batches * plan.tensor * plan.context * replicas;
    if (step.schedule().asynchronous) {
        facts.rounds = plan.mini_batches;
        facts.warm_up = rounds_to_fill(plan);
    }
    return facts;
}

/// What devices hold all along, counted once for each step.
class HeldBySteps {
public:
    [[nodiscard]] const MemoryBytes& of(const TrainingStep& step, std::uint32_t device) {
        const auto [at, fresh] = held_.try_emplace(&step);
        if (fresh)
            at->second = held_all_along(step);
        return at->second[device];
    }

private:
    std::map<const TrainingStep*, std::vector<MemoryBytes>> held_;  ///< by device
};

}  // namespace

std::uint32_t rounds_to_fill(const ParallelPlan& plan) {
    return 2 * plan.pipeline;
}

std::uint32_t rounds_of_replicas(const ParallelPlan& plan) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    std::uint64_t rounds = 1;
    for (const std::uint32_t replicas : plan.replicas)
        rounds = std::min(kMost, std::lcm(rounds, std::uint64_t{std::max(1U, replicas)}));
    return static_cast<std::uint32_t>(rounds);
}

TrainingStep::TrainingStep(Network network, KernelTimes times, ParallelPlan plan) :
    network_(std::move(network)),
    times_(std::move(times)),
    plan_(std::move(plan)),
    schedule_(schedule_of(plan_)) {
    if (plan_.partition.empty())
        plan_.partition = best_partition(network_, times_, plan_, schedule_);
    work_ = std::make_unique<StageWork>(network_, times_, plan_, plan_.partition);
    if (!plan_.given) {
        // Searched schedules depend on these times. A schedule found this way may need non-blocking
        // messages.
        PipelineSchedule searched = schedule_of(plan_, work_.get());
        if (plan_.messages != Messages::kBlocking || ends_blocking(searched))
            schedule_ = std::move(searched);
    }
    if (plan_.last_micro_batch != 0 && plan_.last_micro_batch != plan_.micro_batch) {
        last_plan_ = plan_;
        last_plan_.micro_batch = plan_.last_micro_batch;
        last_work_ = std::make_unique<StageWork>(network_, times_, last_plan_, plan_.partition);
    }
    const std::vector<std::string> wrong = problems_of(schedule_);
    SWITCHFOLD_CHECK(wrong.empty(), "{}: {}", schedule_.name, wrong.front());
}

std::uint32_t TrainingStep::samples() const {
    if (schedule_.asynchronous)
        return plan_.micro_batch;  // samples of a mini-batch
    return plan_.micro_batch * plan_.accumulate -
           (last_work_ ? plan_.micro_batch - plan_.last_micro_batch : 0);
}

ExecutionGraph plan_step(const TrainingStep& step, const LayerMemories* memories) {
    return plan_step(std::vector<const TrainingStep*>(ranks_of(step.plan()), &step), memories);
}

ExecutionGraph
plan_step(const std::vector<const TrainingStep*>& by_rank, const LayerMemories* memories) {
    const TrainingStep& first = **std::find_if(
        by_rank.begin(), by_rank.end(), [](const TrainingStep* step) { return step != nullptr; });
    const RankMap map(first.plan());
    // Replicas of one GPU do the same in the same group: they are one object, by which a simulation
    // knows that they are alike.
    const bool of_one_gpu = map.ranks() == first.plan().data && first.plan().expert == 1;
    std::map<const TrainingStep*, std::uint32_t> written;  // of one GPU: first rank of each step
    Communicators groups;
    NameTable names;
    std::vector<RankGraph> ranks(map.ranks());
    HeldBySteps held;
    for (std::uint32_t rank = 0; rank < map.ranks(); ++rank) {
        const TrainingStep* step = by_rank[rank];
        if (step == nullptr || (of_one_gpu && !written.try_emplace(step, rank).second))
            continue;
        const RankPlace place = map.place(rank);
        const auto memory = memories ? memories->of(*step, place.device) : nullptr;
        ranks[rank] = RankWriter(StepParts(*step, map), rank, groups, names, memory.get()).write();
        if (!memory)
            ranks[rank].held = held.of(*step, place.device);
    }
    ExecutionGraph graph = graph_of(by_rank, std::move(ranks), std::move(groups), std::move(names));
    for (std::uint32_t rank = 0; of_one_gpu && rank < map.ranks(); ++rank)
        if (by_rank[rank] != nullptr)
            graph.ranks[rank] = graph.ranks[written.at(by_rank[rank])];
    return graph;
}

ExecutionGraph graph_of(
    const std::vector<const TrainingStep*>& by_rank, std::vector<RankGraph> ranks,
    Communicators groups, NameTable names) {
    const TrainingStep& first = **std::find_if(
        by_rank.begin(), by_rank.end(), [](const TrainingStep* step) { return step != nullptr; });
    const RankMap map(first.plan());
    std::map<std::uint32_t, const TrainingStep*> replicas;  // step of their first rank
    for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank)
        if (by_rank[rank] != nullptr)
            replicas.try_emplace(map.place(rank).data, by_rank[rank]);
    ExecutionGraph graph = graph_of(first, std::move(ranks), std::move(groups), std::move(names));
    std::vector<std::pair<const TrainingStep*, double>>
        alike;  // number of replicas by step, in order of first use
    for (const auto& [replica, step] : replicas) {
        const auto found =
            std::find_if(alike.begin(), alike.end(), [&, of = step](const auto& one) {
                return one.first == of;
            });
        if (found == alike.end())
            alike.emplace_back(step, 1);
        else
            found->second += 1;
    }
    graph.training = facts_of(*alike.front().first, alike.front().second);
    for (std::size_t i = 1; i < alike.size(); ++i) {
        const TrainingFacts own = facts_of(*alike[i].first, alike[i].second);
        graph.training.samples += own.samples;
        graph.training.flops += own.flops;
    }
    return graph;
}

void hold_all_along(
    const std::vector<const TrainingStep*>& by_rank, std::vector<RankGraph>& ranks) {
    const RankMap map(by_rank.front()->plan());
    HeldBySteps held;
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
        ranks[rank].held = held.of(*by_rank[rank], map.place(rank).device);
}

ExecutionGraph graph_of(
    const TrainingStep& step, std::vector<RankGraph> ranks, Communicators groups, NameTable names) {
    ExecutionGraph graph;
    for (RankGraph& rank : ranks)
        graph.ranks.push_back(std::make_shared<const RankGraph>(std::move(rank)));
    graph.groups = groups.take();
    graph.names = names.take();
    graph.provenance.source = step.network().name;
    graph.provenance.synthetic = true;
    graph.provenance.world_size = static_cast<std::uint32_t>(graph.ranks.size());
    graph.training = facts_of(step, step.plan().data);
    return graph;
}

}  // namespace switchfold
