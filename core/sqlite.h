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
    /// \returns whether there is a row. Throws what Sqlite::fail() does.
    bool step();
    /// The same; of a damaged file it sets `why` instead.
    bool step(std::string& why);
    /// Steps to the end.
    void run();

    enum class Type : std::uint8_t { kNull, kInteger, kReal, kText, kBlob };
    [[nodiscard]] Type type(int column) const;
    [[nodiscard]] std::string text(int column) const;
    /// Bytes of a text or blob, valid until the next step.
    [[nodiscard]] std::string_view bytes(int column) const;
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] double real(int column) const;
    [[nodiscard]] bool is_null(int column) const { return type(column) == Type::kNull; }
    [[nodiscard]] bool is_number(int column) const {
        return type(column) == Type::kInteger || type(column) == Type::kReal;
    }
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

/// An open SQLite file. Errors name it: IoError of a full disk, ConfigError of a file that is no
/// database.
class Sqlite {
public:
    enum class Mode : std::uint8_t {
        kRead,
        kWrite,
        kUntrusted,  ///< another program's, read only: no views, no virtual tables, no long texts
    };
    /// `name`: of the file in errors, if `path` is a copy of it.
    Sqlite(const std::filesystem::path& path, Mode mode, const std::filesystem::path& name = {});
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
    Mode mode_;
    sqlite3* handle_ = nullptr;
};

/// Quotes a name or text for SQL.
[[nodiscard]] std::string sql_name(std::string_view name);
[[nodiscard]] std::string sql_text(std::string_view text);

}  // namespace switchfold
