// SPDX-License-Identifier: Apache-2.0
#include "workloads/plan/schedule/schedule_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace switchfold {

void ScheduleBuilder::update_at_the_end() {
    for (std::uint32_t device = 0; device < schedule_.devices(); ++device) {
        std::vector<std::uint32_t> held;
        for (const std::vector<std::uint32_t>& route : schedule_.routes)
            for (std::uint32_t stage = 0; stage < route.size(); ++stage)
                if (route[stage] == device)
                    held.push_back(stage);
        std::sort(held.begin(), held.end());
        held.erase(std::unique(held.begin(), held.end()), held.end());
        for (const std::uint32_t stage : held)
            add(device, PassKind::kUpdate, schedule_.micro_batches - 1, stage);
    }
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

std::string_view to_string(PassKind kind) {
    switch (kind) {
    case PassKind::kForward:
        return "F";
    case PassKind::kBackward:
        return "BW";
    case PassKind::kInputGradient:
        return "B";
    case PassKind::kWeightGradient:
        return "W";
    case PassKind::kUpdate:
        return "U";
    }
    return "?";
}

std::string to_string(const Pass& pass) {
    return fmt::format("{}{}@{}", to_string(pass.kind), pass.micro_batch, pass.stage);
}

}  // namespace switchfold
