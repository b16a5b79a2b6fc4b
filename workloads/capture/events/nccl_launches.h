// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/capture_file.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace switchfold::capture {

/// NCCL calls that each communication kernel executes: those reported on the launching thread
/// between this launch and the next (NCCL's hostStreamPlanTask() in enqueue.cc follows each
/// launch). Several if the program grouped them.
struct NcclLaunches {
    /// By the kernel's index in CaptureFile::kernels.
    std::map<std::size_t, std::vector<const NcclCall*>> calls;
    /// The call of CUDA that launched it, by the same.
    struct Launch {
        std::uint32_t thread = 0;
        std::uint64_t start = 0;
        std::uint64_t end = 0;
    };
    std::map<std::size_t, Launch> launches;
    std::uint64_t kernels_without_calls = 0;
    std::uint64_t calls_without_kernel = 0;
};
[[nodiscard]] NcclLaunches match_nccl_calls(const CaptureFile& file);

/// Global ranks of each communicator, by its hash. Each capture states only its own rank, so all
/// captures together are needed; a communicator with missing captures is left out.
using CommunicatorRanks = std::map<std::uint64_t, std::vector<std::uint32_t>>;
[[nodiscard]] CommunicatorRanks communicator_ranks(const std::vector<const CaptureFile*>& captures);

}  // namespace switchfold::capture
