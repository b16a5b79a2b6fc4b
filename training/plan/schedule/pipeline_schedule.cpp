// SPDX-License-Identifier: Apache-2.0
#include "training/plan/schedule/pipeline_schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

std::set<std::uint32_t> PipelineSchedule::stages_on(std::uint32_t device) const {
    std::set<std::uint32_t> held;
    for (const std::vector<std::uint32_t>& route : routes)
        for (std::uint32_t stage = 0; stage < route.size(); ++stage)
            if (route[stage] == device)
                held.insert(stage);
    return held;
}

std::set<std::uint32_t> PipelineSchedule::devices_with(std::uint32_t stage) const {
    std::set<std::uint32_t> devices;
    for (const std::vector<std::uint32_t>& route : routes)
        devices.insert(route[stage]);
    return devices;
}

bool any_beside(const PipelineSchedule& schedule) {
    for (const std::vector<Slot>& order : schedule.order)
        if (std::any_of(order.begin(), order.end(), [](const Slot& slot) {
                return slot.beside.has_value();
            }))
            return true;
    return false;
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
