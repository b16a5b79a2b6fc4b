// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// One record of a CSV file by column name, with the number of its first line.
struct CsvRecord {
    std::size_t line = 0;
    std::map<std::string, std::string, std::less<>> fields;
    /// Empty if there is no such column.
    [[nodiscard]] const std::string& operator[](std::string_view column) const;
};

struct CsvTable {
    std::vector<std::string> columns;
    std::vector<CsvRecord> records;
    [[nodiscard]] bool has(std::string_view column) const;
};

/// Reads RFC 4180 with a header line; quoted fields may contain line breaks. Throws ConfigError
/// "file: line N: ..." with all problems: missing header, duplicate column, wrong number of fields,
/// unterminated quote.
[[nodiscard]] CsvTable read_csv(const std::filesystem::path& path);
[[nodiscard]] CsvTable parse_csv(std::string_view text, const std::string& label);

/// The same record by record, cells in the order of the header: for tables of thousands of lines
/// that every run reads.
void read_csv_cells(
    const std::filesystem::path& path,
    const std::function<void(const std::vector<std::string>& columns)>& header,
    const std::function<void(std::size_t line, const std::vector<std::string>& cells)>& each);
void parse_csv_cells(
    std::string_view text, const std::string& label,
    const std::function<void(const std::vector<std::string>& columns)>& header,
    const std::function<void(std::size_t line, const std::vector<std::string>& cells)>& each);

/// A cell to write: quoted if necessary.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace switchfold
