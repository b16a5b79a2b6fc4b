// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace switchfold {

class Sqlite;

/// A prepared statement. Parameters count from 1, columns from 0.
class Statement {
public:
    Statement(Sqlite& database, std::string_view sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    Statement(Statement&&) = delete;
    Statement& operator=(Statement&&) = delete;

    /// Binds all parameters in order; empty optionals become NULL.
    template <class... T>
    Statement& bind(const T&... values) {
        reset();
        int index = 0;
        (put(++index, values), ...);
        return *this;
    }
    /// The same for numbers, texts, booleans and nulls.
    Statement& bind_all(const std::vector<Json>& values);
    /// \returns whether there is a row. Throws IoError.
    bool step();
    /// Steps to the end.
    void run();

    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] double real(int column) const;
    [[nodiscard]] bool is_null(int column) const;
    [[nodiscard]] bool is_number(int column) const;
    [[nodiscard]] int columns() const;
    [[nodiscard]] std::string column_name(int column) const;

private:
    void reset();
    void put(int index, std::string_view value);
    void put(int index, const std::string& value) { put(index, std::string_view(value)); }
    void put(int index, const char* value) { put(index, std::string_view(value)); }
    void put(int index, double value);
    void put(int index, std::int64_t value);
    void put(int index, std::uint64_t value) { put(index, static_cast<std::int64_t>(value)); }
    void put(int index, int value) { put(index, static_cast<std::int64_t>(value)); }
    void put(int index, std::uint32_t value) { put(index, static_cast<std::int64_t>(value)); }
    void put(int index, bool value) { put(index, static_cast<std::int64_t>(value)); }
    void put_null(int index);
    template <class T>
    void put(int index, const std::optional<T>& value) {
        if (value)
            put(index, *value);
        else
            put_null(index);
    }
    Sqlite& database_;
    sqlite3_stmt* statement_ = nullptr;
};

/// An open SQLite file. Errors are IoErrors naming it: a full disk, a file that is not a database.
class Sqlite {
public:
    enum class Mode : std::uint8_t { kRead, kWrite };
    Sqlite(const std::filesystem::path& path, Mode mode);
    ~Sqlite();
    Sqlite(const Sqlite&) = delete;
    Sqlite& operator=(const Sqlite&) = delete;
    Sqlite(Sqlite&&) = delete;
    Sqlite& operator=(Sqlite&&) = delete;

    void run(const std::string& sql);
    [[noreturn]] void fail(int code) const;
    [[nodiscard]] sqlite3* handle() const { return handle_; }

private:
    std::filesystem::path path_;
    sqlite3* handle_ = nullptr;
};

/// Quotes a name or text for SQL.
[[nodiscard]] std::string sql_name(std::string_view name);
[[nodiscard]] std::string sql_text(std::string_view text);

}  // namespace switchfold
