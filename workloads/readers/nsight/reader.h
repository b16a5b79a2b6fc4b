// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace switchfold {

/// The ranks of a run that a report holds, and a limit on its size.
struct NsightPlace {
    std::uint32_t first_rank = 0;
    std::uint32_t world_size = 0;  ///< 0: as many ranks as in this file
    std::uint64_t most = kMostInflated;
};

/// Reads the output of `nsys export --type sqlite`: kernels, copies, runtime calls and NVTX ranges.
/// Each pair of GPU and process is a rank, ordered by GPU, then process. Ranges named forward,
/// backward, optimizer and step or iteration (and a number) mark phases and steps. Sizes come from
/// PyTorch's emit_nvtx and from the payload of NCCL's own ranges, if present. Throws ConfigError
/// (file, table, row and column).
[[nodiscard]] TraceWorkload
read_nsight(const std::filesystem::path& file, const NsightPlace& place = {});

/// Number of ranks that read_nsight() will find. Throws ConfigError.
[[nodiscard]] std::uint32_t
ranks_in_nsight(const std::filesystem::path& file, std::uint64_t most = kMostInflated);

/// Whether a file that begins with these bytes is a SQLite database.
[[nodiscard]] bool is_sqlite(std::string_view beginning);

}  // namespace switchfold
