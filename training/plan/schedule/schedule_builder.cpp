// SPDX-License-Identifier: Apache-2.0
#include "training/plan/schedule/schedule_builder.h"

#include <algorithm>
#include <numeric>

namespace switchfold {

void ScheduleBuilder::update_at_the_end() {
    for (std::uint32_t device = 0; device < schedule_.devices(); ++device)
        for (const std::uint32_t stage : schedule_.stages_on(device))
            add(device, PassKind::kUpdate, schedule_.micro_batches - 1, stage);
}

std::vector<std::uint32_t> straight(std::uint32_t devices) {
    std::vector<std::uint32_t> route(devices);
    std::iota(route.begin(), route.end(), 0U);
    return route;
}

std::vector<std::uint32_t> folded(std::uint32_t devices) {
    std::vector<std::uint32_t> route = straight(devices);
    for (std::uint32_t device = devices; device-- > 0;)
        route.push_back(device);
    return route;
}

void order_by_time(ScheduleBuilder& builder, std::uint32_t device, std::vector<TimedPass> passes) {
    std::stable_sort(passes.begin(), passes.end(), [](const TimedPass& a, const TimedPass& b) {
        return a.time < b.time;
    });
    for (const TimedPass& timed : passes)
        builder.add(device, timed.pass.kind, timed.pass.micro_batch, timed.pass.stage);
}

}  // namespace switchfold
