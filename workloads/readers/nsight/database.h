// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace switchfold::nsight {

/// A column that a query wants; where the table has none of that name, its values are null.
struct Column {
    const char* name;
    bool required = true;
};

/// The rows of a table, in the order of the file.
class Rows {
public:
    Rows(std::string file, std::string table, sqlite3_stmt* statement);
    /// \returns false behind the last row. Throws ConfigError if the file is damaged.
    bool next();
    /// Whole, not negative, or nothing where it is null. Throws ConfigError (table, row, column).
    [[nodiscard]] std::optional<std::uint64_t> number(int column) const;
    /// The same, but nothing too where it is negative: older exports put -1 where nothing is.
    [[nodiscard]] std::optional<std::uint64_t> if_known(int column) const;
    /// As number(), but it has to be there.
    [[nodiscard]] std::uint64_t needed(int column) const;
    /// Nothing where it is null or no text.
    [[nodiscard]] std::optional<std::string> text(int column) const;
    /// Of a text or a blob, until the next row; empty where it is neither.
    [[nodiscard]] std::string_view bytes(int column) const;
    [[noreturn]] void fail(int column, std::string_view what) const;

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    std::string file_;
    std::string table_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    std::uint64_t row_ = 0;
};

/// A SQLite file, compressed or not, opened to be read and not trusted: no views, no virtual
/// tables.
class Database {
public:
    /// Throws ConfigError if it cannot be opened or is more than `most` bytes when inflated.
    explicit Database(const std::filesystem::path& path, std::uint64_t most = kMostInflated);
    [[nodiscard]] bool has(const std::string& table) const;
    /// Throws ConfigError if a required column is missing.
    [[nodiscard]] Rows rows(const std::string& table, const std::vector<Column>& columns) const;

private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    [[nodiscard]] sqlite3_stmt* prepare(const std::string& sql) const;
    [[nodiscard]] std::vector<std::string> columns_of(const std::string& table) const;

    std::string file_;
    std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace switchfold::nsight
