// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"

#include <cstdint>

namespace switchfold {

/// Host copies of the first `gpus` GPUs, all begun together; a direction of 0 bytes is not copied.
struct HostCopyLoad {
    std::uint32_t gpus = 1;
    Bytes to_device;
    Bytes to_host;
};

/// What the slowest GPU reaches, in bytes a second; 0 for what is not copied. Both directions
/// together over the time until both have ended is `both`.
struct HostCopyRates {
    double to_device = 0;
    double to_host = 0;
    double both = 0;
};

/// Measures host copies alone on the machine, in this process, which must not hold another
/// simulation: call it from a job of run_jobs(). Throws SimulationError.
[[nodiscard]] HostCopyRates host_copy_rates(const SystemParams& system, const HostCopyLoad& load);

}  // namespace switchfold
