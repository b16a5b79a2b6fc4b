// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/capture_file.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace switchfold::capture {

/// Which of NCCL's calls each communication kernel carries out: those that NCCL told of on the
/// thread that launched it, behind this launch and before the next (hostStreamPlanTask() of NCCL's
/// enqueue.cc follows each launch). Several if the program grouped them.
struct NcclLaunches {
    /// By the kernel's place in CaptureFile::kernels.
    std::map<std::size_t, std::vector<const NcclCall*>> calls;
    std::uint64_t kernels_without_calls = 0;
    std::uint64_t calls_without_kernel = 0;
};
[[nodiscard]] NcclLaunches match_nccl_calls(const CaptureFile& file);

/// The global ranks of communicators, by their hash: every capture tells its own rank of each, so
/// all of them together tell the whole. A communicator of which captures are missing is not there.
using CommunicatorRanks = std::map<std::uint64_t, std::vector<std::uint32_t>>;
[[nodiscard]] CommunicatorRanks communicator_ranks(const std::vector<const CaptureFile*>& captures);

}  // namespace switchfold::capture
