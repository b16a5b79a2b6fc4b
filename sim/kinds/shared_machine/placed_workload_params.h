// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "sim/config/rank_list.h"
#include "sim/config/workload.h"

#include <cstdint>
#include <string>

namespace switchfold {

/// One of several workloads that share a machine.
struct PlacedWorkloadParams {
    std::string name;
    RankList on;
    Time start;
    std::uint32_t steps = 0;
    Workload workload;
    static constexpr auto fields() {
        return list_of(
            field("name", &PlacedWorkloadParams::name, "Name in reports.").required(),
            field("on", &PlacedWorkloadParams::on, "Its GPUs; rank 0 runs on the first.")
                .required(),
            field(
                "start", &PlacedWorkloadParams::start,
                "Delay of its start after the start of the run.", Time(),
                microseconds(3'600'000'000)),
            field(
                "steps", &PlacedWorkloadParams::steps,
                "Number of consecutive repetitions; 0: until the longest workload has run once.",
                0U, 4096U),
            field("workload", &PlacedWorkloadParams::workload, "The workload on these GPUs.")
                .required());
    }
};

}  // namespace switchfold
