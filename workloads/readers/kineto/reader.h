// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/input/input_file.h"
#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace switchfold {

struct KinetoOptions {
    std::vector<std::filesystem::path> files;  ///< one a rank
    std::uint64_t max_inflated = kMostInflated;
};

/// Reads PyTorch Kineto traces, one file a rank. Throws ConfigError naming file and byte.
[[nodiscard]] TraceWorkload read_kineto(const KinetoOptions& options);

/// One traced rank stands for `ranks` ranks: they share its operations, and every group of the
/// traced world spans them all.
void spread_over_ranks(TraceWorkload& workload, std::uint32_t ranks);

}  // namespace switchfold
