// SPDX-License-Identifier: Apache-2.0
// Qi et al., Zero Bubble Pipeline Parallelism (2024): the backward pass in two, so that weight
// gradients fill gaps.
#include "training/plan/schedule/generators.h"
#include "training/plan/schedule/schedule_builder.h"

#include <algorithm>

namespace switchfold {

namespace {

/// Runs `warm_up` forwards; then repeats forward, input gradient, and the weight gradient of
/// `delay` micro-batches earlier; then the remaining passes.
PipelineSchedule handmade(
    const ScheduleShape& shape, const char* name,
    std::uint32_t (*warm_up_of)(std::uint32_t following), std::uint32_t delay_of_stage) {
    const std::uint32_t m = shape.micro_batches;
    ScheduleBuilder builder(name, shape.devices, m, {straight(shape.devices)});
    for (std::uint32_t s = 0; s < shape.devices; ++s) {
        std::uint32_t next = std::min(warm_up_of(shape.devices - 1 - s), m);
        for (std::uint32_t j = 0; j < next; ++j)
            builder.add(s, PassKind::kForward, j, s);
        const std::uint32_t delay = delay_of_stage * s;
        for (std::uint32_t k = 0; k < m; ++k) {
            if (next < m)
                builder.add(s, PassKind::kForward, next++, s);
            builder.add(s, PassKind::kInputGradient, k, s);
            if (k >= delay)
                builder.add(s, PassKind::kWeightGradient, k - delay, s);
        }
        for (std::uint32_t k = m - std::min(delay, m); k < m; ++k)
            builder.add(s, PassKind::kWeightGradient, k, s);
    }
    builder.update_at_the_end();
    return builder.take();
}

}  // namespace

PipelineSchedule zero_bubble_h1(const ScheduleShape& shape) {
    return handmade(
        shape, "zb_h1", [](std::uint32_t following) { return following; }, 1);
}

PipelineSchedule zero_bubble_h2(const ScheduleShape& shape) {
    return handmade(
        shape, "zb_h2", [](std::uint32_t following) { return 2 * following; }, 2);
}

}  // namespace switchfold
