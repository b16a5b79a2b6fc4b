// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace switchfold {

/// A row of kernels.csv, as far as its energy needs it.
struct KernelTableRow {
    std::string scenario;
    std::uint32_t rank = 0;
    std::string kernel_class;
    double isolated_us = 0;
    double bytes = 0;  ///< read and written, from the L2 and beyond
};

/// Reads the table row by row: it may be larger than memory. `take` returns false for a row that is
/// none of the run. Throws ConfigError for such a row and for what is no row, with its line.
void for_each_kernel_row(
    const std::filesystem::path& table, const std::function<bool(const KernelTableRow&)>& take);

}  // namespace switchfold
