// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/input/input_file.h"

#include <filesystem>
#include <vector>

namespace switchfold {

/// Reads dumps of PyTorch's flight recorder as JSON, one a rank and those of a run together: c10d's
/// calls with their tensors. A workload a rank. The dumps do not name their rank: it is the number
/// behind "rank" in the file's name or, without one, its place among the files. Starts are those of
/// the calls; durations are there if the run had TORCH_NCCL_ENABLE_TIMING. Throws ConfigError.
[[nodiscard]] std::vector<TraceWorkload> read_flight_recorder(
    const std::vector<std::filesystem::path>& files, std::uint64_t most = kMostInflated);

}  // namespace switchfold
