// SPDX-License-Identifier: Apache-2.0
#include "training/plan/division/replica_times.h"

#include "training/plan/step/plan_step.h"
#include "training/plan/step/update_kernels.h"
#include "workloads/graph/execution_graph.h"

#include <algorithm>
#include <limits>

namespace switchfold {

MicroBatches micro_batches(std::uint32_t samples, std::uint32_t most) {
    if (samples <= most)
        return {samples, 1, samples};
    const std::uint32_t count = (samples - 1) / most + 1;
    return {most, count, samples - (count - 1) * most};
}

const ReplicaTimes::OfGpu&
ReplicaTimes::stages(const KernelTimes& times, std::uint32_t samples, bool summed) {
    const auto [at, fresh] = stages_.try_emplace({&times, samples, summed});
    if (!fresh)
        return at->second;
    ParallelPlan plan = plan_;
    plan.micro_batch = samples;
    plan.accumulate = summed ? 2 : 1;  // any number of micro-batches
    const StageWork work(network_, times, plan, plan.partition);
    const double shares =
        plan.sharding == Sharding::kNone ? 1 : replicas_at_work(plan) * plan.context;
    for (std::uint32_t stage = 0; stage < work.stages(); ++stage) {
        StageTimes& of = at->second.emplace_back();
        of.forward = work.seconds(PassKind::kForward, stage);
        of.weight_gradient = work.seconds(PassKind::kWeightGradient, stage);
        of.input_gradient = work.seconds(PassKind::kBackward, stage) - of.weight_gradient;
        of.update = update_seconds(times, plan, work.parameters(stage) / shares);
    }
    return at->second;
}

ReplayTimes ReplicaTimes::slowest(const ReplicaGpus& gpus, std::uint32_t samples, bool summed) {
    ReplayTimes slowest;
    slowest.stages.resize(gpus.size());
    for (std::size_t stage = 0; stage < gpus.size(); ++stage)
        for (const KernelTimes* times : gpus[stage]) {
            const StageTimes& of = stages(*times, samples, summed)[stage];
            StageTimes& all = slowest.stages[stage];
            all.forward = std::max(all.forward, of.forward);
            all.input_gradient = std::max(all.input_gradient, of.input_gradient);
            all.weight_gradient = std::max(all.weight_gradient, of.weight_gradient);
            all.update = std::max(all.update, of.update);
        }
    return slowest;
}

double ReplicaTimes::makespan(
    const ReplicaGpus& gpus, std::uint32_t micro_batch, std::uint32_t micro_batches) {
    const auto [at, fresh] = makespans_.try_emplace({gpus, {micro_batch, micro_batches}});
    if (!fresh)
        return at->second;
    ParallelPlan plan = plan_;
    plan.accumulate = micro_batches;
    at->second =
        problems_of(plan, network_).empty()
            ? replay(schedule_of(plan), slowest(gpus, micro_batch, micro_batches > 1)).makespan
            : std::numeric_limits<double>::infinity();
    return at->second;
}

double
ReplicaTimes::seconds(const ReplicaGpus& gpus, std::uint32_t micro_batch, std::uint32_t samples) {
    const MicroBatches parts = micro_batches(samples, micro_batch);
    const double whole = makespan(gpus, parts.samples, parts.count);
    if (parts.last == parts.samples)
        return whole;
    // A smaller last micro-batch saves what it saves on the busiest stage.
    const ReplayTimes all = slowest(gpus, parts.samples, true);
    const ReplayTimes last = slowest(gpus, parts.last, true);
    double saved = 0;
    for (std::size_t stage = 0; stage < gpus.size(); ++stage) {
        const auto passes = [&](const ReplayTimes& times) {
            const StageTimes& of = times.stages[stage];
            return of.forward + of.input_gradient + of.weight_gradient;
        };
        saved = std::max(saved, passes(all) - passes(last));
    }
    return whole - saved;
}

std::vector<double>
ReplicaTimes::table(const ReplicaGpus& gpus, std::uint32_t micro_batch, std::uint32_t most) {
    std::vector<double> out{0};
    for (std::uint32_t samples = 1; samples <= most; ++samples)
        out.push_back(seconds(gpus, micro_batch, samples));
    return out;
}

}  // namespace switchfold
