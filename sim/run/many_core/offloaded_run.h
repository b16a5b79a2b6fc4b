// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/offload_pipeline.h"
#include "models/coprocessor/processor.h"
#include "sim/run/config/many_core_params.h"
#include "workloads/offload/parallel_program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// One scenario's run.
struct OffloadedRun {
    offload::ParallelProgram program;
    ThreadLayout layout;
    std::vector<RegionTime> regions;  ///< of a step, in the program's order
    std::vector<Time> region_times;   ///< the same, rounded
    Time step;                        ///< their sum
    std::vector<std::uint32_t> steps_of_chunk;
    std::vector<OffloadTimes> chunks;
    std::uint64_t memory_bytes = 0;  ///< that the processor needs
    [[nodiscard]] Time end() const { return chunks.back().out_end; }
};

/// To the nearest picosecond.
[[nodiscard]] Time rounded_time(double seconds);

/// Compute of one phase, of a step.
[[nodiscard]] Time time_of(const OffloadedRun& run, offload::Phase phase);

/// `hidden`: transfers run beside compute. On the host nothing travels.
[[nodiscard]] OffloadedRun run_offloaded(const ManyCoreParams& params, bool hidden);

/// Why the processor's memory does not hold it; empty if it does.
[[nodiscard]] std::string why_too_large(const ManyCoreParams& params, const OffloadedRun& run);

}  // namespace switchfold
