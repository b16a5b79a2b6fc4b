// SPDX-License-Identifier: Apache-2.0
#include "sim/elastic/step_graphs.h"

#include "core/error.h"
#include "core/first_ranks.h"
#include "sim/config/experiment.h"
#include "sim/config/rank_gpus.h"
#include "sim/workload/divided_plan.h"
#include "sim/workload/plan_workload.h"
#include "sim/workload/training_workload.h"
#include "training/elastic/place_ranks.h"
#include "training/network/network.h"
#include "training/plan/step/plan_memory.h"
#include "workloads/graph/jitter.h"
#include "workloads/graph/slow_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

namespace switchfold {

namespace {

using elastic::Members;

/// Of the first members' replicas, at most.
std::uint32_t samples_of_replica(const PlanParams& plan) {
    return plan.global_batch > 0 ? even_share(plan) : plan.micro_batch * plan.accumulate;
}
std::uint32_t samples_of_step(const PlanParams& plan) {
    return plan.global_batch > 0 ? plan.global_batch : samples_of_replica(plan) * plan.data;
}

/// Why replicas cannot have shares that differ by a sample; empty if they can or do not.
std::string why_not_unequal(const elastic::BatchShare& share, const PlanParams& plan) {
    if (share.more == 0)
        return {};
    constexpr std::string_view kExpected =
        "expected a batch that they divide evenly, or keep per_gpu";
    if (plan.expert > 1)
        return fmt::format(
            "gives replicas {} and {} samples, and those with experts exchange their tokens; {}",
            share.most(), share.least, kExpected);
    const std::uint32_t most = elastic::micro_batches_of(share.most(), plan.micro_batch).count;
    const std::uint32_t least = elastic::micro_batches_of(share.least, plan.micro_batch).count;
    if (most != least && (plan.sharding >= Sharding::kGradients || plan.pipeline > 1))
        return fmt::format(
            "gives replicas {} and {} micro-batches, and they exchange in each; {}", most, least,
            kExpected);
    return {};
}

/// Who dies takes with it what no other member has.
void refuse_lost_state(const RunParams& run, const PlanParams& plan, PlanProblems& problems) {
    if (plan.sharding == Sharding::kNone)
        return;
    constexpr std::string_view kWhy =
        "goes on with what is left, and replicas divide the state (sharding {}): what the dead one "
        "held is in a checkpoint alone; expected restart";
    for (const elastic::Change& change : run.written())
        if (change.died && change.method != elastic::Method::kRestart)
            problems.emplace_back(
                fmt::format("/changes/{}/method", *change.written),
                fmt::format(fmt::runtime(kWhy), enum_name(plan.sharding)));
    if (run.failures && run.failures->method != elastic::Method::kRestart)
        problems.emplace_back(
            "/failures/method", fmt::format(fmt::runtime(kWhy), enum_name(plan.sharding)));
}

}  // namespace

PlanProblems
why_not_run(const RunParams& run, const TrainingWorkloadParams& workload, std::uint32_t gpus) {
    PlanProblems problems;
    const PlanParams& plan = *workload.plan;
    const auto refuse = [&](std::string why) { problems.emplace_back("", std::move(why)); };
    if (never_flushes(plan_without_network(workload)))
        refuse(fmt::format(
            "changes members between steps, when all weights are of one update, and {} never "
            "flushes; expected a schedule that does",
            plan.schedule));
    if (plan.division.balanced || !plan.division.samples.empty())
        refuse(fmt::format(
            "divides the batch over the members that it has, and division names the shares of {} "
            "replicas; expected a plan without",
            plan.data));
    else if (plan.global_batch > 0 && run.keep == elastic::Keep::kPerGpu)
        refuse("keeps the samples of a GPU, and global_batch those of a step; expected keep "
               "global_batch, or a plan without");
    if (plan.data % plan.expert != 0)
        return problems;
    const elastic::MemberGpus members(plan, gpus);
    refuse_lost_state(run, plan, problems);
    elastic::ChangeProblems found;
    static_cast<void>(
        elastic::follow_changes(first_ranks(members.first()), run.written(), members, found));
    for (auto& [pointer, what] : found)
        problems.emplace_back("/changes" + pointer, std::move(what));
    if (run.failures && ranks_of(plan) + run.failures->spares > gpus)
        problems.emplace_back(
            "/failures/spares",
            fmt::format(
                "is {}, and of the machine's {} GPUs {} train at first; expected at most the "
                "others",
                run.failures->spares, gpus, ranks_of(plan)));
    else if (run.failures && run.failures->spares % members.each() != 0)
        problems.emplace_back(
            "/failures/spares",
            fmt::format(
                "is {}, and a member of this plan has {} GPUs; expected a multiple of those",
                run.failures->spares, members.each()));
    if (run.failures) {
        constexpr double kSecondsOfDay = 86'400;
        constexpr double kMost = 100'000;
        const double failures =
            run.failures->per_gpu_day * gpus * to_seconds(run.time) / kSecondsOfDay;
        if (failures > kMost)
            problems.emplace_back(
                "/failures/per_gpu_day",
                fmt::format(
                    "leads to about {:.0f} failures of {} GPUs; expected at most {:.0f}", failures,
                    gpus, kMost));
    }
    return problems;
}

/// Samples of replicas: the first `more` have one more than the others.
struct StepGraphs::Share {
    elastic::BatchShare samples;
    /// Whether the i-th replica has one more.
    [[nodiscard]] bool takes_more(std::size_t i) const { return i < samples.more; }
};

StepGraphs::StepGraphs(
    const Experiment& experiment, std::filesystem::path folder, std::uint32_t gpus) :
    experiment_(experiment),
    workload_(*workload_of<TrainingWorkloadParams>(experiment)),
    folder_(std::move(folder)),
    gpus_(*workload_.plan, gpus),
    moves_(gpus_, devices_) {
    find_state();
}

void StepGraphs::find_state() {
    const PlanParams& params = *workload_.plan;
    const ParallelPlan plan = plan_without_network(workload_);
    const auto count = static_cast<double>(parameters(network_of(workload_, folder_)));
    const auto bytes = [](double value) { return Bytes(static_cast<std::uint64_t>(value)); };
    const double weights = count * element_bytes(plan.datatype);
    const double moments = count * optimizer_state_bytes(plan);
    const bool divides_weights = params.sharding == Sharding::kParameters;
    const bool divides_moments = params.sharding != Sharding::kNone;
    state_ = {
        bytes((divides_weights ? 0 : weights) + (divides_moments ? 0 : moments)),
        bytes((divides_weights ? weights : 0) + (divides_moments ? moments : 0)), gpus_.each()};
    devices_.resize(params.pipeline);
    PlanProblems of_step;  // step() reports them
    const auto prepared = prepare_plan(
        workload(gpus_.first(), samples_of_replica(params)),
        RankGpus(*experiment_.system, gpus_.by_rank(first_members())), folder_, of_step,
        experiment_.memory);
    if (!prepared)
        return;
    const std::vector<MemoryBytes> held = held_all_along(*prepared->step);
    const double dividing = double{1} * gpus_.first() * params.context;
    for (std::size_t i = 0; i < held.size(); ++i) {
        const double own = held[i][MemoryClass::kWeights];
        const double updating = held[i][MemoryClass::kMoments];
        devices_[i] = {
            bytes(divides_weights ? 0 : own),
            bytes((divides_weights ? 0 : own) + (divides_moments ? 0 : updating)),
            bytes(dividing * ((divides_weights ? own : 0) + (divides_moments ? updating : 0)))};
    }
}

Members StepGraphs::first_members() const {
    return first_ranks(gpus_.first());
}

StepGraphs::Share StepGraphs::share_of(std::size_t members) const {
    const PlanParams& plan = *workload_.plan;
    const std::uint32_t each = samples_of_replica(plan);
    if (experiment_.run->keep == elastic::Keep::kPerGpu)
        return {{each, 0}};
    return {elastic::share_of(
        samples_of_step(plan), static_cast<std::uint32_t>(members) * gpus_.replicas())};
}

std::uint64_t StepGraphs::samples(std::size_t members) const {
    const PlanParams& plan = *workload_.plan;
    const bool per_gpu = experiment_.run->keep == elastic::Keep::kPerGpu;
    return per_gpu ? std::uint64_t{samples_of_replica(plan)} * members * gpus_.replicas()
                   : samples_of_step(plan);
}

TrainingWorkloadParams StepGraphs::workload(std::size_t members, std::uint32_t samples) const {
    TrainingWorkloadParams workload = workload_;
    const elastic::MicroBatches batches =
        elastic::micro_batches_of(samples, workload_.plan->micro_batch);
    workload.ranks = 0;
    workload.plan->global_batch = 0;  // the members' shares
    workload.plan->data = static_cast<std::uint32_t>(members) * gpus_.replicas();
    workload.plan->micro_batch = batches.size;
    workload.plan->accumulate = batches.count;
    return workload;
}

ExecutionGraph
StepGraphs::plan(const Members& members, std::uint32_t samples, PlanProblems& problems) const {
    const auto prepared = prepare_plan(
        workload(members.size(), samples), RankGpus(*experiment_.system, gpus_.by_rank(members)),
        folder_, problems, experiment_.memory);
    return prepared ? prepared->graph() : ExecutionGraph();
}

ExecutionGraph
StepGraphs::shared_step(const Members& all, const Members& working, PlanProblems& problems) const {
    const Share share = share_of(working.size());
    if (share.samples.least == 0) {
        problems.emplace_back(
            "", fmt::format(
                    "leaves {} replicas for {} samples of a step; expected no more than those",
                    working.size() * gpus_.replicas(), samples(working.size())));
        return {};
    }
    if (const std::string why = why_not_unequal(share.samples, *workload_.plan); !why.empty())
        problems.emplace_back("", why);
    ExecutionGraph graph = plan(all, share.samples.most(), problems);
    if (!problems.empty())
        return {};
    if (share.samples.more > 0) {
        std::vector<bool> takes_more(graph.ranks.size());
        for (std::uint32_t rank = 0; rank < takes_more.size(); ++rank) {
            const std::size_t replica = gpus_.index_of_replica(rank, all.size() * gpus_.replicas());
            const std::uint32_t member = all[replica / gpus_.replicas()];
            const auto place = std::lower_bound(working.begin(), working.end(), member);
            takes_more[rank] = share.takes_more(
                static_cast<std::size_t>(place - working.begin()) * gpus_.replicas() +
                replica % gpus_.replicas());
        }
        graph = elastic::joined(graph, plan(all, share.samples.least, problems), takes_more);
    }
    graph = elastic::placed(graph, gpus_.by_rank(all));
    std::vector<SlowRank> slow;
    for (const SlowRankParams& one : experiment_.ranks)
        if (one.rank < graph.ranks.size() && !graph.ranks[one.rank]->operations.empty())
            slow.push_back({one.rank, one.compute, one.delay});
    slow_down(graph, slow);
    vary(graph, *experiment_.jitter, experiment_.seed);
    return graph;
}

ExecutionGraph StepGraphs::step(const Members& members, PlanProblems& problems) const {
    return shared_step(members, members, problems);
}

ExecutionGraph StepGraphs::joining_step(
    const Members& old_members, const Members& joiners, PlanProblems& problems) const {
    Members all;
    std::merge(
        old_members.begin(), old_members.end(), joiners.begin(), joiners.end(),
        std::back_inserter(all));
    ExecutionGraph graph = shared_step(all, old_members, problems);
    if (!problems.empty())
        return {};
    elastic::contribute_zero(graph, gpus_.all(joiners));
    if (divides())
        moves_.add_divided(graph, old_members, all);
    else
        moves_.add_each(graph, old_members, joiners, experiment_.run->broadcast);
    return graph;
}

}  // namespace switchfold
