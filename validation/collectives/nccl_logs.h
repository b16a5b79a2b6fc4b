// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/csv.h"
#include "validation/collectives/collective_tables.h"
#include "workloads/readers/nccl_tests/log.h"

#include <filesystem>
#include <vector>

namespace switchfold::validation {

/// Whether the file is the output of an nccl-tests program.
[[nodiscard]] bool is_nccl_log(const std::filesystem::path& file);

/// What each row of a log measured, out of place and in place, as a table named after the file.
[[nodiscard]] std::vector<MeasuredRow>
rows_of_log(const NcclTestsLog& log, const std::filesystem::path& file);

/// The same as a table: id, line, operation, size_bytes, type, placement, n_gpus, n_nodes, gpu,
/// nccl_version, time_us, unusable. validation/maps/nccl_tests.json maps it. Throws ConfigError.
[[nodiscard]] CsvTable log_table(const std::filesystem::path& file);

/// The rows of a log, out of place and in place, as a table named after the file. Throws
/// ConfigError (line) if the log is incomplete.
[[nodiscard]] std::vector<MeasuredRow> read_nccl_log_rows(const std::filesystem::path& file);

/// The logs of a folder, by name. Throws ConfigError if a file is not a log, or there is none.
[[nodiscard]] std::vector<MeasuredRow> read_nccl_log_folder(const std::filesystem::path& folder);

}  // namespace switchfold::validation
