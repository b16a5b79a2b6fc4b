// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// A collective as it ran, and what of it is known.
struct CollectiveTraffic {
    Time time;                    ///< of the transfer, all ranks there
    Time after_last;              ///< of it, from when the last rank comes long after the others
    double bytes_per_second = 0;  ///< that it draws through one GPU's L2 meanwhile
    Bytes footprint;              ///< its buffers in the L2
};

/// Runs a collective alone on the machine and measures what it draws. Its kind, bytes, number of
/// blocks and protocol are taken from `operation`; `ranks` GPUs take part. Throws SimulationError.
[[nodiscard]] CollectiveTraffic
traffic_of(const SystemParams& system, const CollectiveOperation& operation, std::uint32_t ranks);

/// NCCL's kernels before 2.19 bear one name for all protocols; their blocks tell: 512 threads run
/// LL, 640 LL128, 512 and a warp Simple (hardware.md A2).
[[nodiscard]] std::string protocol_by_threads(const CollectiveOperation& operation);

/// traffic_of() a collective as a trace shows it: its protocol by its threads, its bytes rounded up
/// to whole KiB of all ranks.
[[nodiscard]] CollectiveTraffic traced_traffic(
    const SystemParams& system, const CollectiveOperation& operation, std::uint32_t ranks);

/// Communication beside a kernel from `from` to `to`, counted from the kernel's launch; it may
/// begin before that.
struct CommunicationPhase {
    double from_us = 0;
    double to_us = 0;
    std::uint32_t blocks = 0;  ///< that are resident
    std::uint32_t threads = 512;
    std::uint32_t registers_per_thread = 96;
    Bytes shared_memory;
    Bytes footprint;
    double bytes_per_second = 0;  ///< through the L2; 0: resident and waiting
    bool exchange = false;        ///< an all-to-all
};

/// How long one kernel takes on a GPU beside communication. The GPU and its memory are those of a
/// whole run; the communication moves its bytes at a steady rate, as far as the memory takes them.
[[nodiscard]] Time simulate_beside(
    const GpuParams& gpu,
    const KernelOperation& kernel,
    const std::vector<CommunicationPhase>& phases);

}  // namespace switchfold
