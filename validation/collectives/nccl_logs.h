// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/csv.h"
#include "validation/collectives/collective_tables.h"

#include <filesystem>
#include <vector>

namespace switchfold::validation {

/// Whether the file is what a program of nccl-tests or rccl-tests printed, or wrote as JSON.
[[nodiscard]] bool is_nccl_log(const std::filesystem::path& file);

/// The rows of a log, out of place and in place. Those of its only run are a table named after the
/// file; runs of several collectives or numbers of ranks are tables each. Rows that cannot be read
/// or moved nothing are unusable. Throws ConfigError (line): no row, a collective that is not
/// known, one rank.
[[nodiscard]] std::vector<MeasuredRow> read_nccl_log_rows(const std::filesystem::path& file);

/// The same as a table: id, line, operation, size_bytes, type, placement, n_gpus, n_nodes, gpu,
/// nccl_version, time_us, unusable. validation/maps/nccl_tests.json maps it. Throws ConfigError.
[[nodiscard]] CsvTable log_table(const std::filesystem::path& file);

/// The logs of a folder, by name. Throws ConfigError if a file is not a log, or there is none.
[[nodiscard]] std::vector<MeasuredRow> read_nccl_log_folder(const std::filesystem::path& folder);

}  // namespace switchfold::validation
