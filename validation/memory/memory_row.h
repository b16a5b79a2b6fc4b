// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/experiments/row_values.h"
#include "validation/experiments/table_map.h"
#include "validation/harness/suite.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::validation {

/// A row of the table of memory: what a policy needs, moves or saves.
struct MemoryRow {
    std::string id;
    std::string network;
    std::uint32_t batch = 1;
    std::optional<std::uint64_t> capacity_mib;
    std::string input;  ///< "3x224x224", "1024 tokens"
    std::string policy;
    std::string quantity;
    std::string unit;
    std::string kind;  ///< measured, claimed, simulated, derived
    double value = 0;
    bool known = true;  ///< whether a value is given
    std::string rule;   ///< of its source, by which it is answered; empty: none is known
    std::string why;    ///< reason why no rule answers it
    RowValues values;   ///< that the map sets

    [[nodiscard]] bool is_derived() const { return kind == "derived"; }
};

/// Rows, each with its rule by `map`. Throws ConfigError with all problems: missing columns,
/// invalid numbers.
[[nodiscard]] std::vector<MemoryRow> read_memory_rows(
    const std::filesystem::path& table, const TableMap& map,
    std::vector<Unmatched>* unread = nullptr);

/// Elements per sample of the network's input: from `input`, or for networks with a standard input.
/// Empty: unknown.
[[nodiscard]] std::optional<std::uint64_t> input_elements(const MemoryRow& row);

/// Finds the table of layers with that name (models/NAME.csv), if available.
using FindTable = std::function<std::optional<std::filesystem::path>(const std::string& name)>;

}  // namespace switchfold::validation
