// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold::validation {

/// A row of averaging.csv (docs/validation.md lists the columns read).
struct AveragingRow {
    std::string id;
    std::string hardware;
    std::uint32_t workers = 0;  ///< 0: not stated
    std::string model;
    std::string algorithm;
    std::uint64_t bytes = 0;  ///< bytes exchanged; 0: not stated
    std::string quantity;
    std::string unit;
    std::string kind;  ///< measured, claimed
    std::string note;
    double value = 0;
};

/// Throws ConfigError "file: line N: ..." with all problems.
[[nodiscard]] std::vector<AveragingRow> read_averaging_rows(const std::filesystem::path& path);

}  // namespace switchfold::validation
