// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/experiments/table_map.h"
#include "validation/harness/suite.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold::validation {

/// A row of elastic.csv (docs/validation.md lists the columns read).
struct ElasticRow {
    std::string id;
    std::string source;
    std::string gpu;
    std::string interconnect;
    std::string model;
    std::string change;
    std::string placement;
    std::string phase;
    std::string quantity;
    std::string unit;
    std::string kind;
    std::string note;
    std::uint32_t gpus = 0;  ///< 0: not stated
    std::uint32_t nodes = 0;
    std::uint32_t from_gpus = 0;
    std::uint32_t to_gpus = 0;
    std::uint32_t batch = 0;
    double value = 0;  ///< NaN if it is not a number
    std::string why;   ///< reason why it is left out; empty if it is not
};

/// Rows, with the reasons by the rules of `map` why some are left out. Throws ConfigError "file:
/// line N: ..." with all problems.
[[nodiscard]] std::vector<ElasticRow> read_elastic_rows(
    const std::filesystem::path& path, const TableMap& map = {},
    std::vector<Unmatched>* unread = nullptr);

}  // namespace switchfold::validation
