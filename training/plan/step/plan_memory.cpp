// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/plan_memory.h"

#include "training/plan/schedule/in_flight.h"
#include "training/plan/schedule/weight_age.h"

#include <algorithm>

namespace switchfold {

namespace {

double
versions_of(const ParallelPlan& plan, const PipelineSchedule& schedule, std::uint32_t stage) {
    switch (plan.weights) {
    case WeightPolicy::kLatest:
        return 1;
    case WeightPolicy::kStash:
    case WeightPolicy::kVerticalSync:
        return versions_stashed(schedule, stage);
    case WeightPolicy::kDoubleBuffered:
    case WeightPolicy::kPredict:
    case WeightPolicy::kPipeMare:  // plus the average of updates
        return 2;
    case WeightPolicy::kXpipe:  // the current ones, and predictions for forwards and backwards
        return 3;
    case WeightPolicy::kPredictOnce:  // the prediction of each forward, until its backward
        return 1 + versions_stashed(schedule, stage);
    }
    return 1;
}

/// Bytes that a stage's weights of 8 bits take beyond its weights in the type of activations, which
/// they replace if the optimizer writes them. Sharded weights are rounded when they are gathered.
double rounded_bytes_held(const TrainingStep& step, std::uint32_t stage) {
    const ParallelPlan& plan = step.plan();
    if (plan.sharding == Sharding::kParameters && !plan.float8_weights)
        return 0;
    const double replicas = static_cast<double>(replicas_at_work(plan)) * plan.context;
    const double shards = plan.sharding == Sharding::kParameters ? replicas : 1;
    const double rounded =
        step.work().rounded_parameters(stage, false) / shards +
        step.work().rounded_parameters(stage, true) / std::max(1.0, shards / plan.expert);
    const std::uint32_t copies = plan.sharding == Sharding::kParameters
                                     ? 1
                                     : copies_of(plan.products, step.times().gpu().kernels);
    return rounded * (copies * rounded_bytes(plan.products) -
                      (plan.float8_weights ? element_bytes(plan.datatype) : 0));
}

/// Most bytes of units whose weights are gathered or whose gradients are whole: those of the one
/// that backward computes, the weights of the next one and the gradients of the one before.
double open_units(const TrainingStep& step, std::uint32_t stage) {
    const ParallelPlan& plan = step.plan();
    if (plan.unit.count() == 0)
        return 0;
    std::vector<double> weights{0};
    for (const WorkItem& item : step.work().work(PassKind::kForward, stage))
        if (const auto* gather = std::get_if<GatherItem>(&item))
            weights.push_back(static_cast<double>((gather->bytes + gather->experts).count()));
    weights.push_back(0);
    const double of_gradients = element_bytes(plan.gradient) / element_bytes(plan.datatype);
    double most = 0;
    for (std::size_t unit = 1; unit + 1 < weights.size(); ++unit)
        most = std::max(
            most,
            weights[unit - 1] + weights[unit] + of_gradients * (weights[unit] + weights[unit + 1]));
    return most;
}

}  // namespace

std::vector<MemoryBytes> held_all_along(const TrainingStep& step) {
    const ParallelPlan& plan = step.plan();
    const PipelineSchedule& schedule = step.schedule();
    const double replicas = static_cast<double>(replicas_at_work(plan)) * plan.context;
    // Bytes that a rank keeps of a stage's parameters; experts have fewer replicas.
    const auto held = [&](std::uint32_t stage, Sharding least) {
        const double experts = step.work().expert_parameters(stage);
        const double others = step.work().parameters(stage) - experts;
        return plan.sharding < least ? others + experts
                                     : others / replicas + experts / (replicas / plan.expert);
    };
    std::vector<MemoryBytes> devices(schedule.devices());
    for (std::uint32_t device = 0; device < schedule.devices(); ++device) {
        MemoryBytes& memory = devices[device];
        for (const std::uint32_t stage : schedule.stages_on(device)) {
            memory[MemoryClass::kWeights] +=
                (held(stage, Sharding::kParameters) * element_bytes(plan.datatype) +
                 rounded_bytes_held(step, stage)) *
                versions_of(plan, schedule, stage);
            memory[MemoryClass::kGradients] +=
                held(stage, Sharding::kGradients) * element_bytes(plan.gradient);
            memory[MemoryClass::kMoments] +=
                held(stage, Sharding::kOptimizer) * optimizer_state_bytes(plan);
        }
        if (replicas > 1 && plan.sharding < Sharding::kGradients && !plan.gradient_as_bucket_view)
            memory[MemoryClass::kBuckets] = memory[MemoryClass::kGradients];
    }
    return devices;
}

std::vector<MemoryBytes> plan_memory(const TrainingStep& step) {
    const auto kept_of = [&](std::uint32_t micro_batch) {
        std::vector<Kept> kept;
        for (std::uint32_t stage = 0; stage < step.work().stages(); ++stage)
            kept.push_back(step.work(micro_batch).kept(stage));
        return kept;
    };
    const std::vector<Kept> kept = kept_of(0);
    const std::vector<Kept> last = kept_of(step.schedule().micro_batches - 1);
    std::vector<MemoryBytes> devices = held_all_along(step);
    for (std::uint32_t device = 0; device < devices.size(); ++device) {
        const InFlight in_flight = most_in_flight(step.schedule(), device, kept, last);
        devices[device][MemoryClass::kActivations] = in_flight.kept;
        devices[device][MemoryClass::kWorkspace] = in_flight.again;
        double open = 0;
        for (const std::uint32_t stage : step.schedule().stages_on(device))
            open = std::max(open, open_units(step, stage));
        devices[device][MemoryClass::kBuckets] += open;
    }
    return devices;
}

}  // namespace switchfold
