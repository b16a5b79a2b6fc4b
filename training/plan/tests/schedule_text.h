// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/schedule/pipeline_schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace switchfold::test_data {

/// A schedule in the format of read_schedule(), one line per device.
inline std::string schedule_text(const PipelineSchedule& schedule) {
    std::string out = fmt::format("{{\n  \"micro_batches\": {},\n", schedule.micro_batches);
    std::vector<std::string> routes;
    for (const std::vector<std::uint32_t>& route : schedule.routes)
        routes.push_back(fmt::format("[{}]", fmt::join(route, ", ")));
    out += fmt::format("  \"routes\": [{}],\n", fmt::join(routes, ", "));
    if (!schedule.route_of.empty())
        out += fmt::format("  \"route_of\": [{}],\n", fmt::join(schedule.route_of, ", "));
    if (schedule.asynchronous)
        out += "  \"asynchronous\": true,\n";
    out += "  \"order\": [";
    for (std::uint32_t device = 0; device < schedule.devices(); ++device) {
        std::vector<std::string> passes;
        for (const Slot& slot : schedule.order[device]) {
            std::string text = to_string(slot.pass);
            if (slot.beside)
                text += "&" + to_string(*slot.beside);
            passes.push_back(fmt::format("\"{}\"", text));
        }
        out += fmt::format("{}\n    [{}]", device == 0 ? "" : ",", fmt::join(passes, ", "));
    }
    return out + "\n  ]\n}\n";
}

}  // namespace switchfold::test_data
