// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nsight/database.h"

#include "core/error.h"
#include "workloads/readers/input/whole_file.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold::nsight {

Rows::Rows(std::string file, std::string table, std::unique_ptr<Statement> statement) :
    file_(std::move(file)), table_(std::move(table)), statement_(std::move(statement)) {}

bool Rows::next() {
    std::string why;
    const bool any = statement_->step(why);
    row_ += any || !why.empty() ? 1 : 0;
    if (!why.empty())
        throw ConfigError(
            file_, fmt::format("{} row {}", table_, row_),
            fmt::format("cannot be read ({}); expected a whole file", why));
    return any;
}

void Rows::fail(int column, std::string_view what) const {
    throw ConfigError(
        file_, fmt::format("{} row {}/{}", table_, row_, statement_->column_name(column)),
        std::string(what));
}

std::optional<std::uint64_t> Rows::number(int column) const {
    if (statement_->is_null(column))
        return std::nullopt;
    if (statement_->type(column) != Statement::Type::kInteger)
        fail(column, "is not a whole number; expected one");
    const std::int64_t value = statement_->integer(column);
    if (value < 0)
        fail(column, fmt::format("is {}; expected a number that is not negative", value));
    return static_cast<std::uint64_t>(value);
}

std::optional<std::uint64_t> Rows::if_known(int column) const {
    if (statement_->type(column) == Statement::Type::kInteger && statement_->integer(column) < 0)
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
    const Statement::Type type = statement_->type(column);
    if (type != Statement::Type::kBlob && type != Statement::Type::kText)
        return {};
    return statement_->bytes(column);
}

std::optional<std::string> Rows::text(int column) const {
    if (statement_->type(column) != Statement::Type::kText)
        return std::nullopt;
    return statement_->text(column);
}

Database::Database(const std::filesystem::path& path, std::uint64_t most) : file_(path.string()) {
    const WholeFile whole(path, most);
    database_ = std::make_unique<Sqlite>(whole.path(), Sqlite::Mode::kUntrusted, path);
}

Rows Database::select(const std::string& table, const std::string& sql) const {
    return {file_, table, std::make_unique<Statement>(*database_, sql)};
}

bool Database::has(const std::string& table) const {
    Rows rows = select(
        "sqlite_master",
        fmt::format(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = {} AND sql NOT LIKE "
            "'CREATE VIRTUAL%'",
            sql_text(table)));
    return rows.next();
}

std::vector<std::string> Database::columns_of(const std::string& table) const {
    Rows rows = select(table, fmt::format("PRAGMA table_info({})", sql_name(table)));
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
                "is not a column of the table; expected the export of Nsight Systems");
        list += fmt::format(
            "{}{} AS {}", list.empty() ? "" : ", ", found ? sql_name(column.name) : "NULL",
            sql_name(column.name));
    }
    return select(table, fmt::format("SELECT {} FROM {}", list, sql_name(table)));
}

}  // namespace switchfold::nsight
