// SPDX-License-Identifier: Apache-2.0
#include "training/plan/schedule/pipeline_schedule.h"

#include <fmt/format.h>

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
