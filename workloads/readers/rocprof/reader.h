// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>

namespace switchfold {

struct RocprofPlace {
    std::uint32_t first_rank = 0;  ///< of the file's first GPU
    std::uint32_t world_size = 0;  ///< 0: as many ranks as the file has GPUs with kernels
    std::uint64_t most = kMostInflated;
};

/// Reads what rocprofv3 wrote with --output-format json: kernels, copies, calls of HIP that launch
/// them, RCCL's calls, and roctx ranges. Each process's GPU that ran a kernel is a rank, in the
/// order of processes and nodes. RCCL's calls are recorded without sizes. Throws ConfigError.
[[nodiscard]] TraceWorkload
read_rocprof(const std::filesystem::path& file, const RocprofPlace& place);

/// Number of ranks in the file.
[[nodiscard]] std::uint32_t ranks_in_rocprof(const std::filesystem::path& file, std::uint64_t most);

}  // namespace switchfold
