// SPDX-License-Identifier: Apache-2.0
#include "validation/collectives/nccl_logs.h"

#include "core/error.h"
#include "validation/harness/data.h"
#include "workloads/readers/nccl_tests/json_log.h"
#include "workloads/readers/nccl_tests/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace switchfold::validation {

namespace {

constexpr std::size_t kBeginning = 1U << 16U;  // launchers and NCCL_DEBUG print first

std::vector<NcclTestsLog> runs_of(const std::filesystem::path& file) {
    if (is_nccl_tests_json(json_beginning(beginning_of(file, kBeginning))))
        return {read_nccl_json_log(file)};
    return read_nccl_logs(file);
}

/// The file's name, and what sets the run apart from the file's others.
std::string table_of(
    const NcclTestsLog& run, const std::vector<NcclTestsLog>& runs,
    const std::filesystem::path& file) {
    const auto all = [&](auto of) {
        return std::ranges::all_of(runs, [&](const NcclTestsLog& r) { return of(r) == of(run); });
    };
    std::string table = file.stem().string();
    if (!all([](const NcclTestsLog& r) { return r.kind; }))
        table += fmt::format(".{}", to_string(run.kind));
    if (!all([](const NcclTestsLog& r) { return r.ranks; }))
        table += fmt::format(".{}", run.ranks);
    return table;
}

MeasuredRow row_of(
    const NcclTestsLog& log, const NcclTestsRow& printed, const NcclTestsTime& time,
    const std::string& table, const char* placement) {
    MeasuredRow row;
    row.line = printed.line;
    row.table = table;
    row.collective = printed.kind.value_or(log.kind);
    row.collective_name = to_string(*row.collective);
    row.gpu = log.gpu;
    row.gpus = log.ranks;
    row.nodes = log.hosts;
    row.library_version = log.library;
    row.datatype = printed.type;
    row.placement = placement;
    row.bytes = printed.bytes;
    row.time_us = time.us;
    row.driven = log.graph ? 0 : log.gpus_of_thread;
    if (printed.bytes == 0)
        row.unusable = "the row moves nothing";
    else if (!(time.us > 0))
        row.unusable = "the time is that of the host's calls (-C 1)";
    else if (time.wrong.value_or(0) != 0)
        row.unusable = fmt::format("nccl-tests counted {} wrong values", *time.wrong);
    return row;
}

constexpr const char* kLogColumns[] = {"id",           "operation", "size_bytes", "type",
                                       "placement",    "n_gpus",    "n_nodes",    "gpu",
                                       "nccl_version", "time_us",   "unusable"};

CsvRecord record_of(const MeasuredRow& row) {
    CsvRecord record;
    record.line = row.line;
    const auto version = library_version(row.library_version);
    const double us = row.time_us.value_or(0);
    record.fields = {
        {"id", fmt::format("{}/{}", row.bytes.value_or(0), row.placement)},
        {"operation", row.collective_name},
        {"size_bytes", fmt::format("{}", row.bytes.value_or(0))},
        {"type", row.datatype},
        {"placement", row.placement},
        {"n_gpus", fmt::format("{}", row.gpus)},
        {"n_nodes", fmt::format("{}", row.nodes.value_or(1))},
        {"gpu", row.gpu},
        {"nccl_version", version ? fmt::format("{}", *version) : ""},
        // Programs that time the host's calls print no time of the collective.
        {"time_us", us > 0 ? fmt::format("{}", us) : ""},
        {"unusable", row.unusable}};
    return record;
}

}  // namespace

bool is_nccl_log(const std::filesystem::path& file) {
    const std::string beginning = beginning_of(file, kBeginning);
    return is_nccl_tests(beginning) || is_nccl_tests_json(json_beginning(beginning));
}

std::vector<MeasuredRow> read_nccl_log_rows(const std::filesystem::path& file) {
    const std::vector<NcclTestsLog> runs = runs_of(file);
    std::vector<MeasuredRow> rows;
    for (const NcclTestsLog& run : runs) {
        if (run.ranks < 2)
            throw ConfigError(file.string(), "", "is of one rank; expected two at least");
        const std::string table = table_of(run, runs, file);
        for (const NcclTestsRow& row : run.rows) {
            rows.push_back(row_of(run, row, row.out_of_place, table, "out-of-place"));
            if (row.in_place)
                rows.push_back(row_of(run, row, *row.in_place, table, "in-place"));
        }
        for (const UnreadRow& row : run.unread) {
            rows.push_back(row_of(run, {}, {}, table, ""));
            rows.back().line = row.line;
            rows.back().unusable = row.why;
        }
    }
    return rows;
}

CsvTable log_table(const std::filesystem::path& file) {
    CsvTable table;
    table.columns.assign(std::begin(kLogColumns), std::end(kLogColumns));
    for (const MeasuredRow& row : read_nccl_log_rows(file))
        table.records.push_back(record_of(row));
    return table;
}

std::vector<MeasuredRow> read_nccl_log_folder(const std::filesystem::path& folder) {
    const std::vector<std::filesystem::path> files = files_in(folder, "");
    if (std::none_of(files.begin(), files.end(), is_nccl_log))
        throw ConfigError(
            folder.string(), "",
            "holds neither reference/nccl_allreduce.csv nor a log of nccl-tests; expected one of "
            "the two");
    std::vector<Problem> problems;
    std::vector<MeasuredRow> rows;
    for (const std::filesystem::path& file : files) {
        if (!is_nccl_log(file)) {
            problems.push_back(
                {file.string(), "",
                 "is not a log of nccl-tests; expected a folder of those alone"});
            continue;
        }
        try {
            const std::vector<MeasuredRow> more = read_nccl_log_rows(file);
            rows.insert(rows.end(), more.begin(), more.end());
        } catch (const ConfigError& error) {
            problems.insert(problems.end(), error.problems().begin(), error.problems().end());
        }
    }
    if (!problems.empty())
        throw ConfigError(std::move(problems));
    return rows;
}

}  // namespace switchfold::validation
