// SPDX-License-Identifier: Apache-2.0
#include "training/memory/step/step_memory.h"

#include "training/memory/compare/largest_batch.h"
#include "training/memory/copies/fastest.h"
#include "training/memory/recompute/fastest_recompute.h"
#include "training/memory/recompute/network_chain.h"
#include "training/memory/step/gathers.h"
#include "training/memory/step/planned_devices.h"
#include "training/memory/step/planned_offload.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

bool within_backward(const MemoryChoice& choice) {
    return choice.updates != UpdatePolicy::kBatch;
}

/// Places update steps: after the layer that completes a group, or after the whole pass.
void place_updates(
    const MemoryChoice& choice, const std::vector<GradientGroup>& groups, std::size_t layers,
    NetworkScheduleOptions& options) {
    if (choice.updater == Updater::kGpu && !within_backward(choice))
        return;
    options.updates_behind.assign(layers, {});
    if (choice.updater == Updater::kHost)
        return;
    for (const GradientGroup& group : groups)
        for (const std::uint32_t owner : group.owners)
            options.updates_behind[group.layers.back()].push_back(owner);
}

NetworkScheduleOptions
options_for(const StepMemory& planned, const NetworkScheduleOptions& of_plan, std::size_t layers) {
    NetworkScheduleOptions options = of_plan;
    options.gradients_apart = true;
    options.weights_travel = planned.choice.weights_travel;
    if (planned.choice.updater == Updater::kHost)
        options.moments = 0;
    place_updates(planned.choice, planned.groups, layers, options);
    return options;
}

TensorUses scheduled(
    const StepMemory& planned, const Network& network, const NetworkScheduleOptions& of_plan,
    std::span<const LayerTimes> times) {
    TensorUses schedule =
        network_schedule(network, options_for(planned, of_plan, network.layers.size()), times);
    schedule.resident_bytes += planned.gradients + planned.shadow;
    return schedule;
}

std::vector<ChainUnit> chain_of(
    const Network& network, const NetworkScheduleOptions& options,
    std::span<const LayerTimes> times) {
    return network_chain(network, {options.batch, options.element, options.kept_of_score}, times);
}

/// Whether the planner retains everything, which is told without planning. Others offload by their
/// rule anyway, or need more.
bool all_stay(const StepMemory& planned, const TensorUses& schedule) {
    const OffloadPlanner planner = planned.choice.planner;
    if (planner == OffloadPlanner::kOffloadAll || planner == OffloadPlanner::kOffloadConv ||
        planner == OffloadPlanner::kFirstFit)
        return false;
    OffloadPlanOptions stays;
    stays.planner = OffloadPlanner::kNone;
    stays.staging = planned.choice.staging;
    stays.memory = planned.choice.bytes.count();
    return plan_offload(schedule, stays).refusal.empty();
}

/// What the choice makes of such repeated layers.
TryRecompute trial_of(
    const StepMemory& planned, const Network& network, const NetworkScheduleOptions& of_plan,
    std::span<const LayerTimes> times) {
    return [&planned, &network, of_plan,
            times](const std::vector<LayerRange>& again, double best, TrialDetail detail) {
        NetworkScheduleOptions options = of_plan;
        options.again = again;
        const TensorUses schedule = scheduled(planned, network, options, times);
        double kernels = 0;
        for (const LayerUse& access : schedule.steps)
            kernels += access.seconds;
        if (kernels >= best)
            return RecomputeTrial{};
        if (all_stay(planned, schedule))
            return RecomputeTrial{true, kernels};  // no plan is faster
        const OffloadPlan plan = retain(planned.choice, schedule, detail);
        if (!plan.refusal.empty())
            return RecomputeTrial{};
        const CopyReplay replay =
            replay_copies(schedule, plan, planned.choice.bytes.count(), planned.choice.rates);
        return RecomputeTrial{true, replay.seconds};
    };
}

std::vector<LayerRange> full_rule(const TrainingStep& step) {
    ParallelPlan full;
    full.recompute = Recompute::kFull;
    const Network& network = step.network();
    return recomputed_layers(network, full, 0, static_cast<std::uint32_t>(network.layers.size()));
}

/// Chooses the layers that are repeated.
void choose_again(StepMemory& planned, const TrainingStep& step) {
    const Network& network = planned.facts.held;
    NetworkScheduleOptions& options = planned.facts.options;
    const std::vector<LayerTimes>& times = planned.facts.times;
    const RecomputeOptions recompute{
        planned.choice.planner != OffloadPlanner::kNone, hidden_copies(times, planned.choice.rates),
        full_rule(step)};
    options.again = fastest_recompute(
        chain_of(network, options, times), recompute, trial_of(planned, network, options, times));
}

void set_gradients_aside(StepMemory& planned, PlanProblems& problems) {
    const std::vector<UpdateLayer>& layers = planned.facts.layers;
    if (!within_backward(planned.choice)) {
        planned.gradients = sum_of_bytes(planned.groups);
        return;
    }
    const std::uint64_t least = least_ring(layers, planned.groups);
    planned.gradients = planned.choice.gradient_ring.count();
    if (planned.gradients == 0)
        planned.gradients = planned.choice.updates == UpdatePolicy::kOverlapped
                                ? std::max(least, largest_pair(planned.groups))
                                : least;
    if (planned.gradients < least)
        problems.emplace_back(
            "/gradient_ring",
            fmt::format(
                "is {} bytes, less than the gradients that are open at the same time; expected {} "
                "or more",
                planned.gradients, least));
    if (planned.choice.updates == UpdatePolicy::kOverlapped)
        for (const UpdateLayer& layer : layers)
            planned.shadow = std::max(planned.shadow, layer.weights);
}

/// Choice, facts, groups and what is set aside.
StepMemory set_aside(
    MemoryFacts facts, const ParallelPlan& plan, const MemoryChoice& choice,
    PlanProblems& problems) {
    StepMemory planned;
    planned.choice = choice;
    planned.facts = std::move(facts);
    planned.groups =
        replicas_at_work(plan) * plan.context > 1
            ? bucket_groups(planned.facts.layers, plan.first_bucket.count(), plan.bucket.count())
            : layer_groups(planned.facts.layers);
    set_gradients_aside(planned, problems);
    return planned;
}

/// \pre facts, groups and what is set aside.
void lay_out(StepMemory& planned) {
    planned.schedule =
        scheduled(planned, planned.facts.held, planned.facts.options, planned.facts.times);
    planned.plan = retain(planned.choice, planned.schedule);
}

/// Whether gradients of weights are passes of their own.
bool has_weight_gradients(const PipelineSchedule& schedule) {
    const auto apart = [](const Slot& slot) {
        return slot.pass.kind == PassKind::kWeightGradient ||
               (slot.beside && slot.beside->kind == PassKind::kWeightGradient);
    };
    return std::any_of(schedule.order.begin(), schedule.order.end(), [&](const auto& device) {
        return std::any_of(device.begin(), device.end(), apart);
    });
}

/// What needs a GPU that has a part of every layer, and sees each micro-batch from its forward to
/// its backward.
PlanProblems
problems_of_parts(const MemoryChoice& choice, const ParallelPlan& plan, const std::string& unlike) {
    PlanProblems problems;
    if (!has_parts(plan) && unlike.empty())
        return problems;
    const std::string parts = plan.pipeline > 1  ? "cuts the network; expected pipeline 1"
                              : plan.context > 1 ? "shares samples; expected context 1"
                              : plan.expert > 1  ? "shares experts; expected expert 1"
                              : has_parts(plan)
                                  ? "keeps parts of it; expected sharding none or optimizer"
                                  : unlike;
    const auto whole = [&](bool wrong, const char* key, std::string_view what) {
        if (wrong)
            problems.emplace_back(
                key, fmt::format(
                         "{} is for GPUs that are alike and have a part of every layer, and the "
                         "plan {}",
                         what, parts));
    };
    whole(
        choice.updates != UpdatePolicy::kBatch && plan.pipeline > 1, "/updates",
        name_of(choice.updates));
    whole(choice.updater == Updater::kHost, "/updater", "host");
    whole(choice.clip_by_global_norm, "/clip_by_global_norm", "true");
    whole(choice.check_loss_scale, "/check_loss_scale", "true");
    if (choice.weights_travel && plan.sharding == Sharding::kParameters)
        problems.emplace_back(
            "/weights_travel",
            "is true, and sharded weights travel between GPUs; expected false, or sharding none, "
            "optimizer or gradients");
    if (plan.recompute == Recompute::kExact)
        problems.emplace_back(
            "", fmt::format("chooses by recompute exact among all layers, and the plan {}", parts));
    if (plan.recompute != Recompute::kNone && has_weight_gradients(schedule_of(plan)))
        problems.emplace_back(
            "", "frees what a layer makes again with its backward, and the schedule's gradients "
                "of weights read it later; expected recompute none, or a schedule without "
                "passes of weight gradients");
    return problems;
}

}  // namespace

OffloadPlan retain(const MemoryChoice& choice, const TensorUses& schedule, TrialDetail detail) {
    constexpr std::uint64_t kRoughGranules = 16;
    OffloadPlanOptions options;
    const bool fastest = choice.planner == OffloadPlanner::kFastest;
    options.planner = choice.planner;
    options.staging = choice.staging;
    options.memory = choice.bytes.count();
    options.optimal.granule = choice.granule.count();
    if (detail == TrialDetail::kRough)
        options.optimal.granule *= kRoughGranules;
    return fastest ? fastest_offload(schedule, options, choice.rates)
                   : plan_offload(schedule, options);
}

PlanProblems
problems_of(const MemoryChoice& choice, const ParallelPlan& plan, const std::string& unlike) {
    PlanProblems problems = problems_of_parts(choice, plan, unlike);
    if (choice.updater == Updater::kHost && plan.sharding == Sharding::kOptimizer)
        problems.emplace_back(
            "/updater",
            "is host, whose ranks share moments already; expected sharding none, or gpu");
    const GradientUses uses{plan.accumulate, choice.clip_by_global_norm, choice.check_loss_scale};
    if (const std::string why = refusal_of(choice.updates, uses); !why.empty())
        problems.emplace_back("/updates", why);
    if (choice.updates != UpdatePolicy::kBatch && !plan.overlap_gradients)
        problems.emplace_back(
            "/updates",
            fmt::format(
                "is {}, which needs gradients that travel beside the backward pass; expected "
                "overlap_gradients true, or batch",
                name_of(choice.updates)));
    if (choice.updates == UpdatePolicy::kBatch && choice.gradient_ring.count() > 0)
        problems.emplace_back(
            "/gradient_ring", "is for updates within the backward pass; expected none with batch");
    if (choice.planner == OffloadPlanner::kFastest && choice.staging != Staging::kWindow)
        problems.emplace_back(
            "/staging", fmt::format(
                            "is {}, and planner fastest tries several; expected window",
                            name_of(choice.staging)));
    if (choice.updater == Updater::kHost && choice.weights_travel)
        problems.emplace_back(
            "/weights_travel",
            "is true, and the host's updates come to the GPU; expected false with a host updater");
    return problems;
}

StepMemory
planned_memory(const TrainingStep& step, const MemoryChoice& choice, PlanProblems& problems) {
    const ParallelPlan& plan = step.plan();
    StepMemory planned =
        set_aside(memory_facts(step.network(), step.times(), plan), plan, choice, problems);
    planned.shadow += static_cast<std::uint64_t>(gathered_bytes(step.work(), {0}));
    if (plan.recompute == Recompute::kExact)
        choose_again(planned, step);
    lay_out(planned);
    return planned;
}

StepMemory memory_before_planning(
    MemoryFacts facts, const ParallelPlan& plan, const MemoryChoice& choice,
    PlanProblems& problems) {
    StepMemory planned = set_aside(std::move(facts), plan, choice, problems);
    planned.schedule =
        scheduled(planned, planned.facts.held, planned.facts.options, planned.facts.times);
    return planned;
}

TensorUses schedule_with_batch(const StepMemory& planned, std::uint32_t micro_batch) {
    NetworkScheduleOptions options = planned.facts.options;
    options.batch = micro_batch;
    return scheduled(planned, planned.facts.held, options, {});
}

StepMemory with_batch_updates(const StepMemory& planned) {
    StepMemory batch = planned;
    batch.choice.updates = UpdatePolicy::kBatch;
    batch.choice.gradient_ring = Bytes();
    batch.shadow = 0;
    batch.gradients = sum_of_bytes(batch.groups);
    lay_out(batch);
    return batch;
}

std::uint32_t largest_micro_batch(const TrainingStep& step, const StepMemory& planned) {
    const auto fits = [&](std::uint32_t batch) {
        NetworkScheduleOptions options = planned.facts.options;
        options.batch = batch;
        if (step.plan().recompute == Recompute::kExact)
            return any_recompute_fits(
                chain_of(planned.facts.held, options, {}), full_rule(step),
                trial_of(planned, planned.facts.held, options, {}));
        return retain(planned.choice, schedule_with_batch(planned, batch)).refusal.empty();
    };
    return largest_batch(step.plan().micro_batch, fits);
}

}  // namespace switchfold
