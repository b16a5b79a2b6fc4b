// SPDX-License-Identifier: Apache-2.0
#include "workloads/plan/step/plan_memory.h"

#include "workloads/plan/schedule/in_flight.h"
#include "workloads/plan/schedule/weight_age.h"
#include "workloads/plan/step/plan_step.h"

#include <algorithm>
#include <set>

namespace switchfold {

namespace {

constexpr double kSingle = 4;  // bytes

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
        return 2;
    case WeightPolicy::kPredictOnce:  // what each forward predicted, until its backward
        return 1 + versions_stashed(schedule, stage);
    }
    return 1;
}

}  // namespace

std::vector<DeviceMemory>
plan_memory(const Network& network, const KernelTimes& times, const ParallelPlan& plan) {
    const PlannedStep step = planned_step(network, times, plan);
    const PipelineSchedule& schedule = step.schedule;
    std::vector<Kept> kept;
    for (std::uint32_t stage = 0; stage < step.work->stages(); ++stage)
        kept.push_back(step.work->kept(stage));
    const double shards = static_cast<double>(plan.data) * plan.context;
    const auto part = [&](Sharding least) { return plan.sharding >= least ? shards : 1.0; };
    const double element = static_cast<double>(size_of(plan.datatype).count());
    const double moments = (plan.adam ? 2 : 1) * kSingle + (element < kSingle ? kSingle : 0);
    std::vector<DeviceMemory> devices(schedule.devices());
    for (std::uint32_t device = 0; device < schedule.devices(); ++device) {
        std::set<std::uint32_t> held;
        for (const std::vector<std::uint32_t>& route : schedule.routes)
            for (std::uint32_t stage = 0; stage < route.size(); ++stage)
                if (route[stage] == device)
                    held.insert(stage);
        DeviceMemory& memory = devices[device];
        for (const std::uint32_t stage : held) {
            const double parameters = step.work->parameters(stage);
            memory.weights += parameters * element * versions_of(plan, schedule, stage) /
                              part(Sharding::kParameters);
            memory.gradients += parameters * static_cast<double>(size_of(plan.gradient).count()) /
                                part(Sharding::kGradients);
            memory.moments += parameters * moments / part(Sharding::kOptimizer);
        }
        memory.activations = most_in_flight(schedule, device, kept);
    }
    return devices;
}

}  // namespace switchfold
