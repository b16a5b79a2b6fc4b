// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/many_core/offloaded_run.h"
#include "sim/output/writers.h"

#include <string>
#include <vector>

namespace switchfold {

/// A completed scenario.
struct RanOffload {
    std::string name;
    const DeviceParams* device = nullptr;
    OffloadedRun run;
};

/// Stages kernels.csv: one row per region and step.
void write_regions(ResultFolder& folder, const std::vector<RanOffload>& scenarios);

/// Stages timeline.json.gz: the regions, and one stream per direction of the link.
void write_offload_timeline(ResultFolder& folder, const std::vector<RanOffload>& scenarios);

}  // namespace switchfold
