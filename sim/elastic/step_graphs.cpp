// SPDX-License-Identifier: Apache-2.0
#include "sim/elastic/step_graphs.h"

#include "core/error.h"
#include "sim/config/experiment.h"
#include "sim/config/rank_gpus.h"
#include "sim/workload/plan_workload.h"
#include "sim/workload/training_workload.h"
#include "training/elastic/place_ranks.h"
#include "training/network/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace switchfold {

namespace {

using elastic::Members;

std::uint32_t samples_of_member(const PlanParams& plan) {
    return plan.micro_batch * plan.accumulate;
}

Members all_of(std::uint32_t members) {
    Members all(members);
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

}  // namespace

PlanProblems why_not_run(
    const RunParams& run, const TrainingWorkloadParams& workload, std::size_t kinds,
    std::uint32_t gpus) {
    PlanProblems problems;
    const PlanParams& plan = *workload.plan;
    const auto refuse = [&](std::string why) { problems.emplace_back("", std::move(why)); };
    if (plan.tensor * plan.context * plan.pipeline * plan.expert > 1)
        refuse("changes replicas of one GPU each, and the plan divides a replica over several; "
               "expected tensor, context, pipeline and expert of 1");
    if (plan.sharding != Sharding::kNone)
        refuse(fmt::format(
            "moves whole states, and the plan shards them ({}); expected sharding none",
            enum_name(plan.sharding)));
    if (plan.schedule != "1f1b" && plan.schedule != "gpipe")
        refuse(fmt::format(
            "changes members between steps, and {} is for pipelines; expected 1f1b or gpipe",
            plan.schedule));
    if (plan.fold)
        refuse("simulates every rank of the plan; expected fold false");
    if (kinds > 1 || plan.global_batch > 0)
        refuse("divides samples over equal GPUs by itself; expected one kind of GPU, and no "
               "global_batch in the plan");
    if (plan.memory)
        refuse("knows nothing of memory that travels; expected a plan without memory");
    elastic::ChangeProblems found;
    static_cast<void>(elastic::follow_changes(all_of(plan.data), run.written(), gpus, found));
    for (auto& [pointer, what] : found)
        problems.emplace_back("/changes" + pointer, std::move(what));
    if (run.failures && plan.data + run.failures->spares > gpus)
        problems.emplace_back(
            "/failures/spares",
            fmt::format(
                "is {}, and of the machine's {} GPUs {} train at first; expected at most the "
                "others",
                run.failures->spares, gpus, plan.data));
    if (run.failures) {
        constexpr double kSecondsOfDay = 86'400;
        constexpr double kMost = 100'000;
        const double failures =
            run.failures->per_gpu_day * gpus * to_seconds(run.time) / kSecondsOfDay;
        if (failures > kMost)
            problems.emplace_back(
                "/failures/per_gpu_day",
                fmt::format(
                    "makes some {:.0f} failures of {} GPUs; expected at most {:.0f}", failures,
                    gpus, kMost));
    }
    return problems;
}

/// Samples of members: the first `more` have one more than the others.
struct StepGraphs::Share {
    elastic::BatchShare samples;
    /// Whether the i-th member has one more.
    [[nodiscard]] bool takes_more(std::size_t i) const { return i < samples.more; }
};

StepGraphs::StepGraphs(const Experiment& experiment, std::filesystem::path folder) :
    experiment_(experiment),
    workload_(std::get<TrainingWorkloadParams>(*experiment.workload)),
    folder_(std::move(folder)) {
    const ParallelPlan plan = plan_without_network(workload_);
    const auto count = static_cast<double>(parameters(network_of(workload_, folder_)));
    const double element = element_bytes(plan.datatype);
    weights_ = Bytes(static_cast<std::uint64_t>(count * element));
    state_ = Bytes(static_cast<std::uint64_t>(count * (element + optimizer_state_bytes(plan))));
}

Members StepGraphs::first_members() const {
    return all_of(workload_.plan->data);
}

StepGraphs::Share StepGraphs::share_of(std::size_t members) const {
    const PlanParams& plan = *workload_.plan;
    const std::uint32_t each = samples_of_member(plan);
    if (experiment_.run->keep == elastic::Keep::kPerGpu)
        return {{each, 0}};
    return {elastic::share_of(each * plan.data, static_cast<std::uint32_t>(members))};
}

std::uint64_t StepGraphs::samples(std::size_t members) const {
    const PlanParams& plan = *workload_.plan;
    const bool per_gpu = experiment_.run->keep == elastic::Keep::kPerGpu;
    return std::uint64_t{samples_of_member(plan)} * (per_gpu ? members : plan.data);
}

ExecutionGraph
StepGraphs::plan(std::size_t ranks, std::uint32_t samples, PlanProblems& problems) const {
    TrainingWorkloadParams workload = workload_;
    const elastic::MicroBatches batches =
        elastic::micro_batches_of(samples, workload_.plan->micro_batch);
    workload.ranks = 0;
    workload.plan->data = static_cast<std::uint32_t>(ranks);
    workload.plan->micro_batch = batches.size;
    workload.plan->accumulate = batches.count;
    const auto prepared = prepare_plan(
        workload, RankGpus(*experiment_.system), folder_, problems, experiment_.memory);
    return prepared ? prepared->graph() : ExecutionGraph();
}

ExecutionGraph StepGraphs::step(const Members& members, PlanProblems& problems) const {
    const Share share = share_of(members.size());
    if (share.samples.least == 0) {
        problems.emplace_back(
            "", fmt::format(
                    "leaves {} members for {} samples of a step; expected no more than those",
                    members.size(), samples(members.size())));
        return {};
    }
    ExecutionGraph graph = plan(members.size(), share.samples.most(), problems);
    if (!problems.empty())
        return {};
    if (share.samples.more > 0) {
        std::vector<bool> takes_more(members.size());
        for (std::size_t i = 0; i < members.size(); ++i)
            takes_more[i] = share.takes_more(i);
        graph =
            elastic::joined(graph, plan(members.size(), share.samples.least, problems), takes_more);
    }
    return elastic::placed(graph, members);
}

ExecutionGraph StepGraphs::joining_step(
    const Members& old_members, const Members& joiners, PlanProblems& problems) const {
    const Share share = share_of(old_members.size());
    Members all;
    std::merge(
        old_members.begin(), old_members.end(), joiners.begin(), joiners.end(),
        std::back_inserter(all));
    ExecutionGraph graph = plan(all.size(), share.samples.most(), problems);
    if (!problems.empty())
        return {};
    if (share.samples.more > 0) {
        std::vector<bool> takes_more(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto place = std::lower_bound(old_members.begin(), old_members.end(), all[i]);
            takes_more[i] = share.takes_more(static_cast<std::size_t>(place - old_members.begin()));
        }
        graph = elastic::joined(graph, plan(all.size(), share.samples.least, problems), takes_more);
    }
    graph = elastic::placed(graph, all);
    elastic::contribute_zero(graph, joiners);
    elastic::add_transfer(graph, old_members, joiners, experiment_.run->broadcast, state_);
    return graph;
}

}  // namespace switchfold
