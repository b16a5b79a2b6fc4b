// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/schedule/pipeline_schedule.h"

#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// Builds a schedule pass by pass.
class ScheduleBuilder {
public:
    /// `routes`: device by stage, one list per route through the devices.
    ScheduleBuilder(
        std::string name, std::uint32_t devices, std::uint32_t micro_batches,
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
    /// Adds one update of all its stages at the end of every device.
    void update_at_the_end();
    [[nodiscard]] PipelineSchedule& schedule() { return schedule_; }
    [[nodiscard]] PipelineSchedule take() { return std::move(schedule_); }

private:
    PipelineSchedule schedule_;
};

/// Route with stage i on device i.
[[nodiscard]] std::vector<std::uint32_t> straight(std::uint32_t devices);
/// Route down and back: stages i and 2 p - 1 - i on device i.
[[nodiscard]] std::vector<std::uint32_t> folded(std::uint32_t devices);

/// A pass with the unit of time at which it begins; sorts a device's passes.
struct TimedPass {
    std::int64_t time = 0;
    Pass pass;
};
void order_by_time(ScheduleBuilder& builder, std::uint32_t device, std::vector<TimedPass> passes);

}  // namespace switchfold
