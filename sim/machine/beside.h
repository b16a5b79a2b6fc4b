// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "sim/machine/simulate.h"
#include "workloads/graph/late_peers.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Measured properties of a collective.
struct CollectiveTraffic {
    Time time;                    ///< transfer, with all ranks arriving together
    Time after_last;              ///< transfer after the last rank's arrival, if it is late
    double bytes_per_second = 0;  ///< traffic through one GPU's L2 meanwhile
    Bytes footprint;              ///< size of its buffers in the L2
    std::uint32_t blocks = 0;     ///< of its kernel, and what each of them takes
    std::uint32_t threads = 0;
    std::uint32_t registers_per_thread = 0;
    Bytes shared_memory;
};

/// Simulates a collective alone on the machine and measures its traffic. Kind, bytes, number of
/// blocks and protocol come from `operation`; these ranks, ascending, take part, and what it
/// measures is the first one's. `parts`: of an all-to-all whose parts differ. Throws
/// SimulationError.
[[nodiscard]] CollectiveTraffic traffic_of(
    const SystemParams& system, const CollectiveOperation& operation,
    const std::vector<std::uint32_t>& ranks, const SimulateOptions& options = {},
    const UnevenExchange* parts = nullptr);

/// Protocol of a kernel of NCCL before 2.19, whose name is equal for all protocols, from its
/// threads per block: 512 for LL, 640 for LL128, 512 plus a warp for Simple.
[[nodiscard]] std::string protocol_by_threads(const CollectiveOperation& operation);

/// traffic_of() for a collective from a trace: protocol by its threads, bytes rounded up to whole
/// KiB over all ranks.
[[nodiscard]] CollectiveTraffic traced_traffic(
    const SystemParams& system, const CollectiveOperation& operation,
    const std::vector<std::uint32_t>& ranks, const SimulateOptions& options = {},
    const UnevenExchange* parts = nullptr);

/// The times of that over these ranks, wherever they stand on the machine.
[[nodiscard]] TransferTime traced_times(
    const SystemParams& system, const CollectiveOperation& operation,
    const std::vector<std::uint32_t>& ranks, const SimulateOptions& options = {},
    const UnevenExchange* parts = nullptr);

/// Time of a collective over these ranks alone on the machine, as a scenario of rings replays it:
/// protocol and channels are NCCL's choice, thread blocks the trace's. Sizes that no trace states
/// are derived so, since nothing else tells their protocol. Throws SimulationError.
[[nodiscard]] Time replayed_time(
    const SystemParams& system, const CollectiveOperation& operation,
    const std::vector<std::uint32_t>& ranks, const SimulateOptions& options = {});

/// The same, and that after the last rank's arrival.
[[nodiscard]] TransferTime replayed_times(
    const SystemParams& system, const CollectiveOperation& operation,
    const std::vector<std::uint32_t>& ranks, const SimulateOptions& options = {});

/// Communication beside a kernel from `from` to `to`, relative to the kernel's launch; may begin
/// earlier.
struct CommunicationPhase {
    double from_us = 0;
    double to_us = 0;
    std::uint32_t blocks = 0;  ///< resident blocks
    std::uint32_t threads = 512;
    std::uint32_t registers_per_thread = 96;
    Bytes shared_memory;
    Bytes footprint;
    double bytes_per_second = 0;  ///< through the L2; 0: resident but waiting
    bool exchange = false;        ///< whether it is an all-to-all
};

/// Duration of one kernel on a GPU beside communication. GPU and memory are modelled as in a full
/// run; the communication moves its bytes at a constant rate as far as the memory permits.
[[nodiscard]] Time simulate_beside(
    const GpuParams& gpu, const KernelOperation& kernel,
    const std::vector<CommunicationPhase>& phases);

}  // namespace switchfold
