// SPDX-License-Identifier: Apache-2.0
// Pipelines that are never drained: every stage updates its weights on its own.
#include "training/plan/schedule/generators.h"
#include "training/plan/schedule/schedule_builder.h"

#include <algorithm>
#include <numeric>

namespace switchfold {

namespace {

/// Devices of each stage, numbered stage by stage.
std::vector<std::vector<std::uint32_t>> devices_of(const ScheduleShape& shape) {
    std::vector<std::vector<std::uint32_t>> devices;
    std::uint32_t next = 0;
    const std::vector<std::uint32_t> replicas =
        shape.replicas.empty() ? std::vector<std::uint32_t>(shape.devices, 1) : shape.replicas;
    for (const std::uint32_t count : replicas) {
        std::vector<std::uint32_t> stage(count);
        std::iota(stage.begin(), stage.end(), next);
        next += count;
        devices.push_back(std::move(stage));
    }
    return devices;
}

/// Routes of micro-batches, which rotate over each stage's devices: one for each combination that
/// occurs.
std::vector<std::vector<std::uint32_t>>
routes_through(const std::vector<std::vector<std::uint32_t>>& devices) {
    std::uint32_t period = 1;
    for (const std::vector<std::uint32_t>& stage : devices)
        period = std::lcm(period, static_cast<std::uint32_t>(stage.size()));
    std::vector<std::vector<std::uint32_t>> routes(period);
    for (std::uint32_t j = 0; j < period; ++j)
        for (const std::vector<std::uint32_t>& stage : devices)
            routes[j].push_back(stage[j % stage.size()]);
    return routes;
}

PipelineSchedule never_drained(const ScheduleShape& shape, const char* name) {
    const std::vector<std::vector<std::uint32_t>> devices = devices_of(shape);
    const auto stages = static_cast<std::uint32_t>(devices.size());
    const std::vector<std::vector<std::uint32_t>> routes = routes_through(devices);
    const std::uint32_t total = devices.back().back() + 1;
    ScheduleBuilder builder(name, total, shape.micro_batches, routes);
    builder.schedule().asynchronous = true;
    if (routes.size() > 1)
        for (std::uint32_t j = 0; j < shape.micro_batches; ++j)
            builder.schedule().route_of.push_back(j % static_cast<std::uint32_t>(routes.size()));
    for (std::uint32_t s = 0; s < stages; ++s) {
        const auto replicas = static_cast<std::uint32_t>(devices[s].size());
        // Mini-batches admitted, as in PipeDream: one for each other device from this stage on,
        // divided among the stage's replicas. With fewer the pipeline would deadlock: a later stage
        // that is one ahead needs the next mini-batch before these replicas meet.
        const std::uint32_t ahead = (total - 1 - devices[s].front()) / replicas;
        for (std::uint32_t r = 0; r < replicas; ++r) {
            const std::uint32_t device = devices[s][r];
            std::vector<std::uint32_t> own;
            for (std::uint32_t j = r; j < shape.micro_batches; j += replicas)
                own.push_back(j);
            const std::size_t warm_up = std::min<std::size_t>(ahead, own.size());
            for (std::size_t k = 0; k < warm_up; ++k)
                builder.add(device, PassKind::kForward, own[k], s);
            for (std::size_t k = 0; k < own.size(); ++k) {
                if (warm_up + k < own.size())
                    builder.add(device, PassKind::kForward, own[warm_up + k], s);
                builder.add(device, PassKind::kBackward, own[k], s);
                if ((k + 1) % shape.update_every == 0)
                    builder.add(device, PassKind::kUpdate, own[k], s);
            }
        }
    }
    return builder.take();
}

}  // namespace

/// Narayanan et al., PipeDream (2019); Chen et al., SpecTrain (2018).
PipelineSchedule asynchronous_1f1b(const ScheduleShape& shape) {
    return never_drained(shape, "1f1b_async");
}

/// Narayanan et al., PipeDream-2BW (2021).
PipelineSchedule double_buffered_1f1b(const ScheduleShape& shape) {
    return never_drained(shape, "1f1b_double_buffered");
}

/// In every unit of time a device runs the forward of one mini-batch beside the backward of an
/// earlier one. A mini-batch returns to a stage after passing the following stages in both
/// directions.
PipelineSchedule two_batches_at_once(const ScheduleShape& shape) {
    const std::uint32_t p = shape.devices;
    const std::uint32_t m = shape.micro_batches;
    ScheduleBuilder builder("two_batches", p, m, {straight(p)});
    builder.schedule().asynchronous = true;
    for (std::uint32_t s = 0; s < p; ++s) {
        const std::uint32_t behind = std::min(2 * (p - s) - 1, m);
        for (std::uint32_t j = 0; j < behind; ++j)
            builder.add(s, PassKind::kForward, j, s);
        for (std::uint32_t j = 0; j < m; ++j) {
            const Pass backward{PassKind::kBackward, j, s};
            if (behind + j < m)
                builder.together(s, {PassKind::kForward, behind + j, s}, backward);
            else
                builder.add(s, backward.kind, j, s);
            builder.add(s, PassKind::kUpdate, j, s);
        }
    }
    return builder.take();
}

}  // namespace switchfold
