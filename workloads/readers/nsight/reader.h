// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace switchfold {

/// Which of a run's ranks a report holds, and how much of it is read at most.
struct NsightPlace {
    std::uint32_t first_rank = 0;
    std::uint32_t world_size = 0;  ///< 0: as many ranks as this file has
    std::uint64_t most = kMostInflated;
};

/// Reads what `nsys export --type sqlite` writes: kernels, copies, runtime calls and NVTX ranges.
/// Each GPU that a process used is a rank, by GPU, then process. Ranges named forward, backward,
/// optimizer and step or iteration (and a number) mark phases and steps; the sizes of PyTorch's
/// emit_nvtx and the payload of NCCL's own ranges are used where they are. Throws ConfigError:
/// file, table, row and column.
[[nodiscard]] TraceWorkload
read_nsight(const std::filesystem::path& file, const NsightPlace& place = {});

/// How many ranks read_nsight() will find. Throws ConfigError.
[[nodiscard]] std::uint32_t
ranks_in_nsight(const std::filesystem::path& file, std::uint64_t most = kMostInflated);

/// Whether a file that begins so is a SQLite database.
[[nodiscard]] bool is_sqlite(std::string_view beginning);

}  // namespace switchfold
