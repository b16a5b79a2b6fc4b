// SPDX-License-Identifier: Apache-2.0
#include "validation/collectives/nccl_logs.h"

#include "core/error.h"
#include "validation/harness/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace switchfold::validation {

namespace {

MeasuredRow row_of(
    const NcclTestsLog& log, const NcclTestsRow& printed, const NcclTestsTime& time,
    const std::filesystem::path& file, const char* placement) {
    MeasuredRow row;
    row.line = printed.line;
    row.table = file.stem().string();
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
    constexpr std::size_t kBeginning = 1U << 16U;  // launchers and NCCL_DEBUG print first
    return is_nccl_tests(beginning_of(file, kBeginning));
}

std::vector<MeasuredRow> rows_of_log(const NcclTestsLog& log, const std::filesystem::path& file) {
    std::vector<MeasuredRow> rows;
    for (const NcclTestsRow& row : log.rows) {
        rows.push_back(row_of(log, row, row.out_of_place, file, "out-of-place"));
        if (row.in_place)
            rows.push_back(row_of(log, row, *row.in_place, file, "in-place"));
    }
    return rows;
}

CsvTable log_table(const std::filesystem::path& file) {
    CsvTable table;
    table.columns.assign(std::begin(kLogColumns), std::end(kLogColumns));
    for (const MeasuredRow& row : rows_of_log(read_nccl_log(file), file))
        table.records.push_back(record_of(row));
    return table;
}

std::vector<MeasuredRow> read_nccl_log_rows(const std::filesystem::path& file) {
    const NcclTestsLog log = read_nccl_log(file);
    if (!log.whole)
        throw ConfigError(
            file.string(), fmt::format("line {}", log.lines),
            "ends before the line \"# Avg bus bandwidth\"; expected the log of a whole run");
    if (log.ranks < 2)
        throw ConfigError(file.string(), "", "is of one rank; expected two at least");
    return rows_of_log(log, file);
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
