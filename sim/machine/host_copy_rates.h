// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"

#include <cstdint>

namespace switchfold {

/// Host copies of the first `gpus` GPUs, all starting together; a direction with 0 bytes is not
/// copied.
struct HostCopyLoad {
    std::uint32_t gpus = 1;
    Bytes to_device;
    Bytes to_host;
};

/// Rates of the slowest GPU, in bytes per second; 0 for a direction that is not copied. `both` is
/// the rate of both directions together, up to the end of the later one.
struct HostCopyRates {
    double to_device = 0;
    double to_host = 0;
    double both = 0;
};

/// Simulates host copies alone on the machine, in this process, which must not hold another
/// simulation: call it from a job of run_jobs(). Throws SimulationError.
[[nodiscard]] HostCopyRates host_copy_rates(const SystemParams& system, const HostCopyLoad& load);

}  // namespace switchfold
