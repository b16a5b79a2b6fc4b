// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/input/input_file.h"
#include "workloads/readers/json_beginning.h"
#include "workloads/readers/nccl_tests/log.h"

#include <filesystem>

namespace switchfold {

/// Whether a file that begins so holds results as JSON.
[[nodiscard]] bool is_nccl_tests_json(const JsonBeginning& beginning);

/// Reads results as JSON: the file of nccl-tests (-J), or the rows of rccl-tests (-Z json), as a
/// list or each on its line. Rows of rccl-tests are out of place or in place; where both are there,
/// those out of place count. Throws ConfigError (pointer or line): no row, no number of ranks, a
/// collective that is not known.
[[nodiscard]] NcclTestsLog
read_nccl_json_log(const std::filesystem::path& file, std::uint64_t most = kMostInflated);

}  // namespace switchfold
