// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/schedule/pipeline_schedule.h"

#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// Lays a schedule down, pass by pass.
class ScheduleBuilder {
public:
    /// `routes`: device by stage, one list for each way through the devices.
    ScheduleBuilder(
        std::string name,
        std::uint32_t devices,
        std::uint32_t micro_batches,
        std::vector<std::vector<std::uint32_t>> routes) {
        schedule_.name = std::move(name);
        schedule_.micro_batches = micro_batches;
        schedule_.routes = std::move(routes);
        schedule_.order.resize(devices);
    }

    void add(std::uint32_t device, PassKind kind, std::uint32_t micro_batch, std::uint32_t stage) {
        schedule_.order[device].push_back({{kind, micro_batch, stage}, {}});
    }
    void together(std::uint32_t device, const Pass& forward, const Pass& backward) {
        schedule_.order[device].push_back({forward, backward});
    }
    /// Every device updates all that it holds, once, at the end.
    void update_at_the_end();
    [[nodiscard]] PipelineSchedule& schedule() { return schedule_; }
    [[nodiscard]] PipelineSchedule take() { return std::move(schedule_); }

private:
    PipelineSchedule schedule_;
};

/// Stage i on device i.
[[nodiscard]] std::vector<std::uint32_t> straight(std::uint32_t devices);
/// Down and back: stage i on device i, stage 2 p - 1 - i on device i too.
[[nodiscard]] std::vector<std::uint32_t> folded(std::uint32_t devices);

/// Passes of a device with the unit times at which they begin; orders a device by them.
struct TimedPass {
    std::int64_t time = 0;
    Pass pass;
};
void order_by_time(ScheduleBuilder& builder, std::uint32_t device, std::vector<TimedPass> passes);

}  // namespace switchfold
