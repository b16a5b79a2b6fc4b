// SPDX-License-Identifier: Apache-2.0
// Schedules that end in a flush, with one stage or several on a device.
#include "training/plan/schedule/generators.h"
#include "training/plan/schedule/schedule_builder.h"

#include <algorithm>

namespace switchfold {

/// Huang et al., GPipe (2019).
PipelineSchedule gpipe(const ScheduleShape& shape) {
    ScheduleBuilder builder("gpipe", shape.devices, shape.micro_batches, {straight(shape.devices)});
    for (std::uint32_t s = 0; s < shape.devices; ++s) {
        for (std::uint32_t j = 0; j < shape.micro_batches; ++j)
            builder.add(s, PassKind::kForward, j, s);
        for (std::uint32_t j = shape.micro_batches; j-- > 0;)
            builder.add(s, PassKind::kBackward, j, s);
    }
    builder.update_at_the_end();
    return builder.take();
}

/// PipeDream-Flush, DAPPLE: as many forwards as there are later stages, then alternating forward
/// and backward.
PipelineSchedule one_forward_one_backward(const ScheduleShape& shape) {
    const std::uint32_t m = shape.micro_batches;
    ScheduleBuilder builder("1f1b", shape.devices, m, {straight(shape.devices)});
    for (std::uint32_t s = 0; s < shape.devices; ++s) {
        const std::uint32_t warm_up = std::min(shape.devices - 1 - s, m);
        for (std::uint32_t j = 0; j < warm_up; ++j)
            builder.add(s, PassKind::kForward, j, s);
        for (std::uint32_t j = 0; j < m; ++j) {
            if (warm_up + j < m)
                builder.add(s, PassKind::kForward, warm_up + j, s);
            builder.add(s, PassKind::kBackward, j, s);
        }
    }
    builder.update_at_the_end();
    return builder.take();
}

/// Narayanan et al. (2021), Megatron-LM's order: chunk c of device s is stage c p + s.
PipelineSchedule interleaved_1f1b(const ScheduleShape& shape) {
    const std::uint32_t p = shape.devices;
    const std::uint32_t v = shape.chunks;
    const std::uint32_t passes = shape.micro_batches * v;
    std::vector<std::uint32_t> route(p * v);
    for (std::uint32_t stage = 0; stage < p * v; ++stage)
        route[stage] = stage % p;
    ScheduleBuilder builder("interleaved_1f1b", p, shape.micro_batches, {route});
    const auto micro_batch = [&](std::uint32_t k) { return k / (p * v) * p + k % p; };
    const auto chunk = [&](std::uint32_t k) { return k % (p * v) / p; };
    for (std::uint32_t s = 0; s < p; ++s) {
        const auto forward = [&](std::uint32_t k) {
            builder.add(s, PassKind::kForward, micro_batch(k), chunk(k) * p + s);
        };
        const std::uint32_t warm_up = std::min(2 * (p - s - 1) + (v - 1) * p, passes);
        for (std::uint32_t k = 0; k < warm_up; ++k)
            forward(k);
        for (std::uint32_t k = 0; k < passes; ++k) {
            if (warm_up + k < passes)
                forward(warm_up + k);
            builder.add(s, PassKind::kBackward, micro_batch(k), (v - 1 - chunk(k)) * p + s);
        }
    }
    builder.update_at_the_end();
    return builder.take();
}

}  // namespace switchfold
