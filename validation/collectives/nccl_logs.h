// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/collectives/collective_tables.h"

#include <filesystem>
#include <vector>

namespace switchfold::validation {

/// Whether this is what a program of nccl-tests printed.
[[nodiscard]] bool is_nccl_log(const std::filesystem::path& file);

/// The rows of a log, out of place and in place, as a table of the file's name. Throws ConfigError
/// (line) if the log is not one of a whole run.
[[nodiscard]] std::vector<MeasuredRow> read_nccl_log_rows(const std::filesystem::path& file);

/// The logs of a folder, by name. Throws ConfigError if a file is none, or none is there.
[[nodiscard]] std::vector<MeasuredRow> read_nccl_log_folder(const std::filesystem::path& folder);

}  // namespace switchfold::validation
