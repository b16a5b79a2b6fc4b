// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/train/trainer.h"
#include "training/plan/schedule/generators.h"

#include <cstdint>
#include <vector>

namespace switchfold::learning {

/// Timeline of the schedule `name` with equal stages, long enough for `steps`.
inline WeightTimeline timeline_of(
    const char* name, std::uint32_t devices, std::uint32_t micro_batches, std::uint32_t steps) {
    ScheduleShape shape;
    shape.devices = devices;
    shape.chunks = 2;
    const ScheduleGenerator& generator = *find_schedule(name);
    shape.micro_batches = generator.never_flushes ? steps * micro_batches : micro_batches;
    shape.update_every = generator.never_flushes ? micro_batches : 1;
    const PipelineSchedule schedule = generator.make(shape);
    const ReplayTimes times{std::vector<StageTimes>(schedule.stages(), {1, 1, 1, 0, 0}), 0};
    const Replay ran = replay(schedule, times);
    const RanPasses passes = ran_passes(schedule, ran, micro_batches);
    if (generator.never_flushes)
        return WeightTimeline(passes);
    return WeightTimeline(repeated(passes, steps, ran.makespan));
}

inline TrainingRun trained(
    const Task& task, WeightPolicy policy, const WeightTimeline& timeline, std::uint64_t seed = 1) {
    const auto samples = make_samples(task, seed, {});
    return train(task, policy, timeline, *samples, seed);
}

}  // namespace switchfold::learning
