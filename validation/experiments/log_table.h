// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/csv.h"

#include <filesystem>

namespace switchfold::validation {

/// A log of nccl-tests or rccl-tests as a table: id, line, operation, size_bytes, type, placement,
/// n_gpus, n_nodes, gpu, nccl_version, time_us, unusable. validation/maps/nccl_tests.json maps it.
/// Throws ConfigError.
[[nodiscard]] CsvTable log_table(const std::filesystem::path& file);

}  // namespace switchfold::validation
