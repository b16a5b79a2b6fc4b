// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/shipped_gpus.h"
#include "sim/config/system_params.h"
#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace switchfold {

/// A GPU that took a trace's times.
struct TracedGpu {
    GpuParams gpu;
    bool known = true;  ///< false: the machine that stands for the traced one has it
};

/// Descriptions of GPUs that traces were recorded on: of the machine that stands for the traced
/// one, else of the shipped ones that `experiment`'s folder leads to.
class TracedGpus {
public:
    TracedGpus(const std::filesystem::path& experiment, const SystemParams& traced_on) :
        experiment_(experiment), traced_on_(traced_on) {}

    [[nodiscard]] TracedGpu of(const StatedGpu& stated);

private:
    const std::filesystem::path& experiment_;
    const SystemParams& traced_on_;
    std::optional<std::vector<GpuParams>> shipped_;
};

[[nodiscard]] StatedGpu stated_gpu(const TraceFileReport& file);
/// What a rank's trace states: one trace stands for all ranks, or each rank has its own.
[[nodiscard]] StatedGpu stated_gpu(const std::vector<TraceFileReport>& files, std::uint32_t rank);

}  // namespace switchfold
