// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/sqlite.h"
#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::nsight {

/// A column requested by a query; if the table lacks it, its values are null.
struct Column {
    const char* name;
    bool required = true;
};

/// The rows of a table, in file order.
class Rows {
public:
    Rows(std::string file, std::string table, std::unique_ptr<Statement> statement);
    /// \returns false after the last row. Throws ConfigError if the file is damaged.
    bool next();
    /// A non-negative whole number, or nothing if null. Throws ConfigError (table, row, column).
    [[nodiscard]] std::optional<std::uint64_t> number(int column) const;
    /// Like number(), but negative values give nothing as well: older exports use -1 for unknown.
    [[nodiscard]] std::optional<std::uint64_t> if_known(int column) const;
    /// Like number(), but the value is required.
    [[nodiscard]] std::uint64_t needed(int column) const;
    /// Nothing if null or not a text.
    [[nodiscard]] std::optional<std::string> text(int column) const;
    /// Bytes of a text or blob, valid until the next row; empty for other types.
    [[nodiscard]] std::string_view bytes(int column) const;
    [[noreturn]] void fail(int column, std::string_view what) const;

private:
    std::string file_;
    std::string table_;
    std::unique_ptr<Statement> statement_;
    std::uint64_t row_ = 0;
};

/// A SQLite file, compressed or not, opened read-only as untrusted: no views, no virtual tables.
class Database {
public:
    /// Throws ConfigError if it cannot be opened or exceeds `most` bytes when inflated.
    explicit Database(const std::filesystem::path& path, std::uint64_t most = kMostInflated);
    [[nodiscard]] bool has(const std::string& table) const;
    /// Throws ConfigError if a required column is missing.
    [[nodiscard]] Rows rows(const std::string& table, const std::vector<Column>& columns) const;

private:
    [[nodiscard]] Rows select(const std::string& table, const std::string& sql) const;
    [[nodiscard]] std::vector<std::string> columns_of(const std::string& table) const;

    std::string file_;
    std::unique_ptr<Sqlite> database_;
};

}  // namespace switchfold::nsight
