// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nsight/database.h"

#include "core/error.h"
#include "workloads/readers/input/whole_file.h"

#include <fmt/format.h>

#include <algorithm>

#include <sqlite3.h>

namespace switchfold::nsight {

namespace {
// Twice the profiler's own limit on texts; no longer text is a name.
constexpr int kLongestText = 1 << 20;
}  // namespace

void Rows::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

Rows::Rows(std::string file, std::string table, sqlite3_stmt* statement) :
    file_(std::move(file)), table_(std::move(table)), statement_(statement) {}

bool Rows::next() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_DONE)
        return false;
    ++row_;
    if (code != SQLITE_ROW)
        throw ConfigError(
            file_, fmt::format("{} row {}", table_, row_),
            fmt::format("cannot be read ({}); expected a whole file", sqlite3_errstr(code)));
    return true;
}

void Rows::fail(int column, std::string_view what) const {
    throw ConfigError(
        file_,
        fmt::format("{} row {}/{}", table_, row_, sqlite3_column_name(statement_.get(), column)),
        std::string(what));
}

std::optional<std::uint64_t> Rows::number(int column) const {
    sqlite3_stmt* const s = statement_.get();
    const int type = sqlite3_column_type(s, column);
    if (type == SQLITE_NULL)
        return std::nullopt;
    if (type != SQLITE_INTEGER)
        fail(column, "is no whole number; expected one");
    const sqlite3_int64 value = sqlite3_column_int64(s, column);
    if (value < 0)
        fail(column, fmt::format("is {}; expected a number that is not negative", value));
    return static_cast<std::uint64_t>(value);
}

std::optional<std::uint64_t> Rows::if_known(int column) const {
    sqlite3_stmt* const s = statement_.get();
    if (sqlite3_column_type(s, column) == SQLITE_INTEGER && sqlite3_column_int64(s, column) < 0)
        return std::nullopt;
    return number(column);
}

std::uint64_t Rows::needed(int column) const {
    const std::optional<std::uint64_t> value = number(column);
    if (!value)
        fail(column, "is empty; expected a number");
    return *value;
}

std::string_view Rows::bytes(int column) const {
    sqlite3_stmt* const s = statement_.get();
    const int type = sqlite3_column_type(s, column);
    if (type != SQLITE_BLOB && type != SQLITE_TEXT)
        return {};
    const void* const data = sqlite3_column_blob(s, column);
    return {
        static_cast<const char*>(data), static_cast<std::size_t>(sqlite3_column_bytes(s, column))};
}

std::optional<std::string> Rows::text(int column) const {
    sqlite3_stmt* const s = statement_.get();
    if (sqlite3_column_type(s, column) != SQLITE_TEXT)
        return std::nullopt;
    const int size = sqlite3_column_bytes(s, column);
    return std::string(
        reinterpret_cast<const char*>(sqlite3_column_text(s, column)),
        static_cast<std::size_t>(size));
}

void Database::Close::operator()(sqlite3* database) const {
    sqlite3_close(database);
}

Database::Database(const std::filesystem::path& path, std::uint64_t most) : file_(path.string()) {
    const WholeFile whole(path, most);
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(whole.path().c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
    database_.reset(raw);
    if (code != SQLITE_OK)
        throw ConfigError(file_, "", "cannot be opened; expected a readable SQLite file");
    sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, kLongestText);
}

sqlite3_stmt* Database::prepare(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
        throw ConfigError(
            file_, "",
            fmt::format(
                "cannot be read ({}); expected a whole SQLite file",
                sqlite3_errmsg(database_.get())));
    return statement;
}

bool Database::has(const std::string& table) const {
    Rows rows(
        file_, "sqlite_master",
        prepare(fmt::format(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '{}' AND sql NOT LIKE "
            "'CREATE VIRTUAL%'",
            table)));
    return rows.next();
}

std::vector<std::string> Database::columns_of(const std::string& table) const {
    Rows rows(file_, table, prepare(fmt::format("PRAGMA table_info(\"{}\")", table)));
    std::vector<std::string> names;
    while (rows.next())
        names.push_back(rows.text(1).value_or(""));
    return names;
}

Rows Database::rows(const std::string& table, const std::vector<Column>& columns) const {
    const std::vector<std::string> there = columns_of(table);
    std::string list;
    for (const Column& column : columns) {
        const bool found = std::find(there.begin(), there.end(), column.name) != there.end();
        if (!found && column.required)
            throw ConfigError(
                file_, fmt::format("{}/{}", table, column.name),
                "is no column of the table; expected the export of Nsight Systems");
        list += fmt::format(
            "{}{} AS \"{}\"", list.empty() ? "" : ", ",
            found ? fmt::format("\"{}\"", column.name) : "NULL", column.name);
    }
    return {file_, table, prepare(fmt::format("SELECT {} FROM \"{}\"", list, table))};
}

}  // namespace switchfold::nsight
