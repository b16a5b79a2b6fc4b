// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/offload_pipeline.h"
#include "models/coprocessor/processor.h"
#include "models/coprocessor/program/parallel_program.h"
#include "sim/config/device_params.h"
#include "sim/kinds/many_core/many_core_params.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// One scenario's run.
struct OffloadedRun {
    offload::ParallelProgram program;
    ThreadLayout layout;
    std::vector<RegionTime> regions;  ///< per step, in program order
    std::vector<Time> region_times;   ///< the same, rounded
    Time step;                        ///< their sum
    std::vector<std::uint32_t> steps_of_chunk;
    std::vector<OffloadTimes> chunks;
    double memory_bytes = 0;  ///< needed on the processor
    [[nodiscard]] Time end() const { return chunks.back().out_end; }
};

/// Rounds to the nearest picosecond.
[[nodiscard]] Time rounded_time(double seconds);

/// Compute time of one phase, per step.
[[nodiscard]] Time time_of(const OffloadedRun& run, offload::Phase phase);

/// `hidden`: transfers run beside compute. On a device without a link there are no transfers.
/// Throws std::invalid_argument from a million seconds on, where times might overflow.
[[nodiscard]] OffloadedRun
run_offloaded(const ManyCoreParams& params, const DeviceParams& device, bool hidden);

/// Why it does not fit the processor's memory; empty if it does.
[[nodiscard]] std::string why_too_large(const DeviceParams& device, const OffloadedRun& run);

}  // namespace switchfold
