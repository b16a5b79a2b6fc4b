// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/sweep_report.h"

#include "core/error.h"
#include "core/sqlite.h"
#include "sim/output/figures.h"
#include "sim/sweep/database.h"

#include <array>
#include <string_view>

namespace switchfold {

namespace {

/// Columns of the view that the page reads, besides axes and metrics.
constexpr std::array<std::string_view, 7> kColumns{
    "status", "error", "scenario", "machine", "ran_ranks", "ran_algorithm", "size_bytes"};

/// Limit on rows; more make the page larger than 5 MB.
constexpr std::size_t kMostRows = 20'000;

OrderedJson cell(const Statement& row, int column) {
    if (row.is_null(column))
        return nullptr;
    return row.is_number(column) ? OrderedJson(row.real(column)) : OrderedJson(row.text(column));
}

std::string meta(Sqlite& database, const char* key) {
    Statement read(database, "SELECT value FROM meta WHERE key = ?");
    read.bind(key);
    return read.step() ? read.text(0) : std::string();
}

/// Its first transaction makes them all.
bool has_tables(Sqlite& database) {
    Statement read(database, "SELECT 1 FROM sqlite_master WHERE name = 'meta'");
    return read.step();
}

OrderedJson axes_json(Sqlite& database) {
    OrderedJson axes = OrderedJson::array();
    Statement read(database, "SELECT axis, name, unit FROM axes ORDER BY axis");
    Statement values(
        database, "SELECT label, number FROM axis_values WHERE axis = ? ORDER BY position");
    while (read.step()) {
        OrderedJson list = OrderedJson::array();
        values.bind(read.integer(0));
        while (values.step())
            list.push_back({{"label", values.text(0)}, {"number", cell(values, 1)}});
        axes.push_back({{"name", read.text(1)}, {"unit", cell(read, 2)}, {"values", list}});
    }
    return axes;
}

void add_rows(Sqlite& database, OrderedJson& data) {
    std::vector<std::string> columns;
    for (const OrderedJson& axis : data["axes"]) {
        columns.push_back(axis["name"].get<std::string>());
        if (!axis["unit"].is_null())
            columns.push_back(columns.back() + "_number");
    }
    columns.insert(columns.end(), kColumns.begin(), kColumns.end());
    for (const OrderedJson& metric : data["metrics"]) {
        columns.push_back(metric["key"].get<std::string>());
        if (const std::string key = columns.back(); metric["interval"].get<bool>())
            columns.insert(columns.end(), {at_least(key), at_most(key)});
    }
    std::string list;
    for (const std::string& column : columns)
        list += (list.empty() ? "" : ", ") + sql_name(column);
    data["columns"] = columns;
    data["rows"] = OrderedJson::array();
    std::size_t left_out = 0;
    Statement read(database, "SELECT " + list + " FROM results");
    while (read.step()) {
        if (data["rows"].size() == kMostRows) {
            ++left_out;
            continue;
        }
        OrderedJson row = OrderedJson::array();
        for (int i = 0; i < read.columns(); ++i)
            row.push_back(cell(read, i));
        data["rows"].push_back(std::move(row));
    }
    data["left_out"] = left_out;
}

}  // namespace

OrderedJson sweep_report_data(const std::filesystem::path& folder) {
    Sqlite database(folder / kDatabaseName, Sqlite::Mode::kRead);
    if (!has_tables(database))
        throw ConfigError(
            (folder / kDatabaseName).string(), "",
            "is empty: its sweep ended before it began; expected one that ran");
    const std::string schema = meta(database, "schema");
    if (schema != kSweepSchema)
        throw ConfigError(
            (folder / kDatabaseName).string(), "",
            "is of schema \"" + schema + "\"; expected " + kSweepSchema);
    OrderedJson data{
        {"kind", "sweep"},
        {"name", meta(database, "sweep")},
        {"version", meta(database, "version")}};
    Statement count(
        database, "SELECT count(*), total(r.status = 'done') FROM points p"
                  " LEFT JOIN runs r ON r.digest = p.digest");
    count.step();
    data["points"] = count.integer(0);
    data["done"] = count.integer(1);
    data["axes"] = axes_json(database);
    data["metrics"] = OrderedJson::parse(meta(database, "metrics"));
    add_rows(database, data);
    data["measured"] = OrderedJson::array();
    data["data_file"] = "";
    return data;
}

}  // namespace switchfold
