// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/csv.h"
#include "core/error.h"

#include <filesystem>
#include <vector>

namespace switchfold {

/// Reads a user's table like read_csv(), but for the records that have another number of fields
/// than the header: `left_out` says which. Comments ("#") before the header and blanks around cells
/// are passed over; semicolons or tabs may be between cells.
[[nodiscard]] CsvTable
read_csv_rows(const std::filesystem::path& path, std::vector<Problem>& left_out);

}  // namespace switchfold
