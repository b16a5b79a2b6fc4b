// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/database.h"

#include "core/csv.h"
#include "core/error.h"
#include "core/version.h"
#include "sim/output/replaced_file.h"
#include "sim/sweep/metrics.h"

#include <fmt/format.h>

#include <optional>

namespace switchfold {

namespace {

constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS axes(
    axis INTEGER PRIMARY KEY, name TEXT NOT NULL, pointers TEXT NOT NULL, unit TEXT);
CREATE TABLE IF NOT EXISTS axis_values(
    axis INTEGER, position INTEGER, label TEXT NOT NULL, number REAL, "values" TEXT NOT NULL,
    PRIMARY KEY(axis, position)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS points(
    point INTEGER PRIMARY KEY, digest TEXT NOT NULL, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS point_values(
    point INTEGER, axis INTEGER, position INTEGER NOT NULL, PRIMARY KEY(point, axis)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs(
    digest TEXT PRIMARY KEY, status TEXT NOT NULL, exit_code INTEGER NOT NULL, error TEXT
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hosts(
    digest TEXT PRIMARY KEY, host TEXT, wall_s REAL, peak_rss_bytes INTEGER) WITHOUT ROWID;
)";

std::optional<std::string> optional_text(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

/// One row per scenario: run, scenario, the columns of its record, and the host.
std::string scenarios_table() {
    std::string columns = "digest TEXT, position INTEGER";
    for (const RecordColumn& column : record_columns())
        columns += fmt::format(", {} {}", column.name, column.type);
    return fmt::format(
        "CREATE TABLE IF NOT EXISTS scenarios({}, machine TEXT,"
        " PRIMARY KEY(digest, position)) WITHOUT ROWID",
        columns);
}

std::string csv_cell(const Statement& row, int column) {
    return row.is_null(column) ? std::string() : csv_field(row.text(column));
}

/// Whether the attached part has been fully created.
bool has_runs(Sqlite& database) {
    Statement read(database, "SELECT 1 FROM part.sqlite_master WHERE name = 'runs'");
    return read.step();
}

}  // namespace

SweepDatabase::SweepDatabase(const std::filesystem::path& file, const SweepPlan& plan) :
    path_(file), database_(file, Sqlite::Mode::kWrite) {
    begin();
    create();
    check_meta(plan.name);
    write_plan(plan);
    flush();
}

void SweepDatabase::begin() {
    if (open_)
        return;
    database_.run("BEGIN IMMEDIATE");
    open_ = true;
    opened_ = std::chrono::steady_clock::now();
}

void SweepDatabase::flush() {
    if (!open_)
        return;
    database_.run("COMMIT");
    open_ = false;
}

void SweepDatabase::tick() {
    constexpr std::chrono::milliseconds kMostDelay{500};
    if (open_ && std::chrono::steady_clock::now() - opened_ >= kMostDelay)
        flush();
}

void SweepDatabase::create() {
    database_.run(kTables);
    database_.run(scenarios_table());
}

void SweepDatabase::check_meta(const std::string& name) {
    const std::pair<const char*, std::string> wanted[] = {
        {"schema", kSweepSchema},
        {"version", std::string(version())},
        {"sweep", name},
        {"metrics", sweep_metrics().dump()}};
    for (const auto& [key, value] : wanted) {
        Statement read(database_, "SELECT value FROM meta WHERE key = ?");
        read.bind(key);
        if (!read.step()) {
            Statement(database_, "INSERT INTO meta VALUES(?, ?)").bind(key, value).run();
        } else if (read.text(0) != value) {
            throw ConfigError(
                path_.string(), "",
                fmt::format(
                    "holds results of {} {}; expected {}: give another folder with --out", key,
                    read.text(0), value));
        }
    }
}

void SweepDatabase::write_plan(const SweepPlan& plan) {
    for (const char* table : {"points", "point_values", "axes", "axis_values"})
        database_.run(fmt::format("DELETE FROM {}", table));
    write_axes(plan);
    Statement add_point(database_, "INSERT INTO points VALUES(?, ?, ?)");
    Statement add_value(database_, "INSERT INTO point_values VALUES(?, ?, ?)");
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
        const SweepPoint& point = plan.points[i];
        add_point.bind(std::uint64_t{i}, point.digest, name_of(plan, point)).run();
        for (std::size_t axis = 0; axis < point.at.size(); ++axis)
            add_value.bind(std::uint64_t{i}, std::uint64_t{axis}, point.at[axis]).run();
    }
    write_view(plan);
}

void SweepDatabase::write_axes(const SweepPlan& plan) {
    Statement add_axis(database_, "INSERT INTO axes VALUES(?, ?, ?, ?)");
    Statement add_value(database_, "INSERT INTO axis_values VALUES(?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < plan.axes.size(); ++i) {
        const Axis& axis = plan.axes[i];
        const auto kind = axis.kind();
        add_axis
            .bind(
                std::uint64_t{i}, axis.name, fmt::format("{}", fmt::join(axis.pointers, " ")),
                kind ? std::optional(std::string(unit_of(*kind))) : std::nullopt)
            .run();
        for (std::size_t j = 0; j < axis.values.size(); ++j) {
            const AxisValue& value = axis.values[j];
            add_value
                .bind(
                    std::uint64_t{i}, std::uint64_t{j}, value.label,
                    kind ? std::optional(value.measure->number) : std::nullopt,
                    Json(value.values).dump())
                .run();
        }
    }
}

/// One row per point and scenario, with each axis by name and numeric value.
void SweepDatabase::write_view(const SweepPlan& plan) {
    std::string columns = "p.point AS point, p.digest AS digest";
    std::string joins;
    for (std::size_t i = 0; i < plan.axes.size(); ++i) {
        const Axis& axis = plan.axes[i];
        columns += fmt::format(", v{}.label AS {}", i, sql_name(axis.name));
        if (axis.kind())
            columns += fmt::format(", v{}.number AS {}", i, sql_name(axis.name + "_number"));
        joins += fmt::format(
            " JOIN point_values a{0} ON a{0}.point = p.point AND a{0}.axis = {0}"
            " JOIN axis_values v{0} ON v{0}.axis = {0} AND v{0}.position = a{0}.position",
            i);
    }
    columns += ", r.status AS status, r.exit_code AS exit_code, r.error AS error";
    Statement info(database_, "SELECT name FROM pragma_table_info('scenarios')");
    while (info.step())
        if (const std::string name = info.text(0); name != "digest" && name != "position")
            columns += fmt::format(", s.{0} AS {0}", name);
    database_.run("DROP VIEW IF EXISTS results");
    database_.run(fmt::format(
        "CREATE VIEW results AS SELECT {} FROM points p{} LEFT JOIN runs r ON r.digest = p.digest"
        " LEFT JOIN scenarios s ON s.digest = p.digest ORDER BY p.point, s.position",
        columns, joins));
}

std::set<std::string> SweepDatabase::digests(const char* query) {
    std::set<std::string> digests;
    Statement read(database_, query);
    while (read.step())
        digests.insert(read.text(0));
    return digests;
}

std::set<std::string> SweepDatabase::done() {
    return digests("SELECT digest FROM runs WHERE status = 'done'");
}

std::set<std::string> SweepDatabase::ended() {
    return digests("SELECT digest FROM runs");
}

std::map<std::string, double> SweepDatabase::iterations() {
    std::map<std::string, double> all;
    Statement read(
        database_,
        "SELECT r.digest, s.iteration_us FROM runs r JOIN scenarios s ON s.digest = r.digest"
        " WHERE r.status = 'done' AND s.position = 0");
    while (read.step())
        all[read.text(0)] = read.real(1);
    return all;
}

void SweepDatabase::forget_failed() {
    begin();
    for (const char* table : {"scenarios", "hosts", "runs"})
        database_.run(fmt::format(
            "DELETE FROM {} WHERE digest IN (SELECT digest FROM runs WHERE status = 'failed')",
            table));
    flush();
}

void SweepDatabase::record(const RunRecord& run) {
    begin();
    for (const char* table : {"scenarios", "runs", "hosts"})
        Statement(database_, fmt::format("DELETE FROM {} WHERE digest = ?", table))
            .bind(run.digest)
            .run();
    Statement(database_, "INSERT INTO runs VALUES(?, ?, ?, ?)")
        .bind(
            run.digest, run.exit_code == 0 ? "done" : "failed", run.exit_code,
            optional_text(run.error))
        .run();
    Statement(database_, "INSERT INTO hosts VALUES(?, ?, ?, ?)")
        .bind(run.digest, run.host.name, run.host.wall_s, run.host.peak_rss_bytes)
        .run();
    const std::vector<RecordColumn> columns = record_columns();
    std::string marks = "?, ?, ?";
    for (std::size_t i = 0; i < columns.size(); ++i)
        marks += ", ?";
    Statement add(database_, fmt::format("INSERT INTO scenarios VALUES({})", marks));
    for (std::size_t i = 0; i < run.scenarios.size(); ++i) {
        std::vector<Json> values{run.digest, i};
        for (const RecordColumn& column : columns)
            values.push_back(column.get(run.scenarios[i]));
        values.emplace_back(run.machine);
        add.bind_all(values).run();
    }
    tick();
}

std::uint64_t SweepDatabase::merge(const std::filesystem::path& other) {
    flush();
    Statement(database_, "ATTACH DATABASE ? AS part").bind(other.string()).run();
    if (!has_runs(database_)) {
        database_.run("DETACH DATABASE part");
        return 0;
    }
    // Not IMMEDIATE, which would block the other database's writer.
    database_.run("BEGIN");
    open_ = true;
    // If both have a run, a successful one replaces a failed one.
    database_.run("CREATE TEMP TABLE taken AS SELECT p.digest AS digest FROM part.runs p"
                  " LEFT JOIN main.runs m ON m.digest = p.digest"
                  " WHERE m.digest IS NULL OR (m.status = 'failed' AND p.status = 'done')");
    for (const char* table : {"runs", "scenarios", "hosts"}) {
        database_.run(
            fmt::format("DELETE FROM main.{} WHERE digest IN (SELECT digest FROM taken)", table));
        database_.run(fmt::format(
            "INSERT INTO main.{0} SELECT * FROM part.{0}"
            " WHERE digest IN (SELECT digest FROM taken)",
            table));
    }
    std::uint64_t taken = 0;
    {
        Statement count(database_, "SELECT count(*) FROM taken");
        count.step();
        taken = static_cast<std::uint64_t>(count.integer(0));
    }
    database_.run("DROP TABLE taken");
    flush();
    database_.run("DETACH DATABASE part");
    return taken;
}

SweepCount SweepDatabase::count() {
    Statement read(
        database_,
        "SELECT count(*), total(r.status = 'done'), total(r.status = 'failed') FROM points p"
        " LEFT JOIN runs r ON r.digest = p.digest");
    read.step();
    const auto at = [&](int column) { return static_cast<std::uint64_t>(read.integer(column)); };
    return {at(0), at(1), at(2)};
}

std::vector<std::pair<std::string, std::string>> SweepDatabase::failures(std::size_t most) {
    std::vector<std::pair<std::string, std::string>> found;
    Statement read(
        database_, "SELECT p.name, r.error FROM points p JOIN runs r ON r.digest = p.digest"
                   " WHERE r.status = 'failed' ORDER BY p.point LIMIT ?");
    read.bind(std::uint64_t{most});
    while (read.step())
        found.emplace_back(read.text(0), read.text(1));
    return found;
}

void SweepDatabase::write_csv(const std::filesystem::path& file) {
    ReplacedFile out(file);
    Statement read(database_, "SELECT * FROM results");
    std::string line;
    for (int i = 0; i < read.columns(); ++i)
        line += (i == 0 ? "" : ",") + csv_field(read.column_name(i));
    out.write(line + "\n");
    while (read.step()) {
        line.clear();
        for (int i = 0; i < read.columns(); ++i)
            line += (i == 0 ? "" : ",") + csv_cell(read, i);
        out.write(line + "\n");
    }
    out.close();
}

}  // namespace switchfold
