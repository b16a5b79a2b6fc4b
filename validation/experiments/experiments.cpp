// SPDX-License-Identifier: Apache-2.0
#include "core/csv_rows.h"
#include "core/error.h"
#include "core/params_reader.h"
#include "validation/collectives/nccl_logs.h"
#include "validation/experiments/mapped_suite.h"
#include "validation/experiments/measured_experiments.h"
#include "validation/experiments/simulated_rows.h"
#include "validation/harness/data.h"
#include "validation/harness/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

namespace switchfold::validation {

namespace {

constexpr const char* kLogMap = "validation/maps/nccl_tests.json";
constexpr const char* kMapEnding = ".map.json";

/// A table with its map: the one that the user named, the one beside the table, or that of logs.
struct TableAndMap {
    std::filesystem::path table;
    std::filesystem::path map;  ///< empty: the table's columns say all
    bool log = false;
};

TableAndMap with_map(const std::filesystem::path& table, const SuiteOptions& options) {
    TableAndMap found{table, options.map, is_nccl_log(table)};
    std::error_code ignored;
    std::filesystem::path beside = table;
    beside.replace_extension(kMapEnding);
    if (found.map.empty() && std::filesystem::is_regular_file(beside, ignored))
        found.map = beside;
    if (found.map.empty() && found.log)
        found.map = options.root / kLogMap;
    if (found.log && options.system.empty())
        throw ConfigError(
            table.string(), "",
            "is of nccl-tests, which does not say what joins the GPUs; expected --system FILE, the "
            "machine that was measured");
    return found;
}

/// The tables of a folder, or the one that was named.
std::vector<TableAndMap> tables_of(const std::filesystem::path& data, const SuiteOptions& options) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(data, ignored))
        return {with_map(data, options)};
    const std::vector<std::filesystem::path> files = files_in(data, ".csv");
    if (files.empty())
        throw ConfigError(data.string(), "", "holds no table; expected files NAME.csv");
    std::vector<TableAndMap> tables;
    for (const std::filesystem::path& file : files)
        tables.push_back(with_map(file, options));
    return tables;
}

std::vector<MeasuredExperiment>
rows_of(const TableAndMap& from, const SuiteOptions& options, SuiteResult& result) {
    TableMap map;
    if (!from.map.empty())
        map = read_params_file<TableMap>(from.map);
    std::vector<Problem> left_out;
    const CsvTable table = from.log ? log_table(from.table) : read_csv_rows(from.table, left_out);
    for (const Problem& row : left_out)
        result.unmatched.push_back(
            {fmt::format("{}/{}", from.table.stem().string(), row.pointer),
             fmt::format("{}: {}", row.pointer, row.message)});
    return measured_experiments(
        table, std::move(map), {from.table, from.map, options.root, options.system});
}

void tell_means(SuiteResult& result) {
    std::size_t stated = 0;
    std::size_t outside = 0;
    for (const Case& c : result.cases) {
        stated += c.low && c.high ? 1 : 0;
        outside += c.low && c.high && c.error_beyond_interval() > 0 ? 1 : 0;
    }
    if (stated > 0)
        result.notes.push_back(fmt::format(
            "{} of {} answers are outside of the interval that the table states", outside, stated));
}

}  // namespace

std::vector<MeasuredExperiment> mapped_rows(
    const std::filesystem::path& table, std::string_view map, const SuiteOptions& options,
    SuiteResult& result) {
    return rows_of({table, options.root / map}, options, result);
}

SuiteResult run_mapped(
    const Suite& suite, const MappedSuite& mapped, const SuiteOptions& options,
    std::vector<MeasuredExperiment>* compared) {
    const auto data = data_of(suite, options);
    std::error_code ignored;
    const bool one_table = options.data && !std::filesystem::is_directory(*options.data, ignored);
    const auto more =
        mapped.beside.empty() || one_table ? std::nullopt : find_data(options, mapped.beside);
    if (!data && !more)
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    std::vector<MeasuredExperiment> rows;
    if (data)
        rows = mapped_rows(*data, mapped.map, options, result);
    if (more && more != data && (rows.empty() || !mapped.instead))
        std::ranges::move(
            mapped_rows(*more, mapped.map, options, result), std::back_inserter(rows));
    std::vector<Problem> problems;
    compare_rows(rows, options, result, problems, false);
    if (compared != nullptr)
        *compared = std::move(rows);
    return result;
}

SuiteResult run_low_sm(const SuiteOptions& options) {
    return run_mapped(
        suite_named("low_sm"), {"validation/maps/low_sm.json", "reference/copy_engines.csv"},
        options);
}

SuiteResult run_averaging(const SuiteOptions& options) {
    return run_mapped(
        suite_named("averaging"),
        {"validation/maps/averaging.json", "reference/training/exchange_pcie.csv"}, options);
}

SuiteResult run_experiments(const SuiteOptions& options) {
    const Suite& suite = suite_named("experiments");
    const auto data = data_of(suite, options);
    if (!data)
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    result.judged = !options.data;
    for (const TableAndMap& table : tables_of(*data, options)) {
        const std::vector<MeasuredExperiment> rows = rows_of(table, options, result);
        const std::size_t before = result.cases.size();
        std::vector<Problem> problems;
        compare_rows(rows, options, result, problems);
        if (result.cases.size() == before && !problems.empty())
            throw ConfigError(std::move(problems));
    }
    tell_means(result);
    return result;
}

}  // namespace switchfold::validation
