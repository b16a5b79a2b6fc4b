// SPDX-License-Identifier: Apache-2.0
#include "validation/experiments/log_table.h"

#include "validation/collectives/collective_tables.h"
#include "workloads/readers/nccl_tests/log.h"

#include <fmt/format.h>

#include <string>

namespace switchfold::validation {

namespace {

constexpr const char* kLogColumns[] = {
    "id",
    "operation",
    "size_bytes",
    "type",
    "placement",
    "n_gpus",
    "n_nodes",
    "gpu",
    "moves",
    "nccl_version",
    "time_us",
    "wrong"};

CsvRecord record_of(
    const NcclTestsLog& log,
    const NcclTestsRow& row,
    const NcclTestsTime& time,
    const char* placement) {
    CsvRecord record;
    record.line = row.line;
    const auto version = library_version(log.library);
    record.fields = {
        {"id", fmt::format("{}/{}", row.bytes, placement)},
        {"operation", std::string(to_string(row.kind.value_or(log.kind)))},
        {"size_bytes", fmt::format("{}", row.bytes)},
        {"type", row.type},
        {"placement", placement},
        {"n_gpus", fmt::format("{}", log.ranks)},
        {"n_nodes", fmt::format("{}", log.hosts)},
        {"gpu", log.gpu},
        {"moves", row.bytes == 0 ? "nothing" : "data"},
        {"nccl_version", version ? fmt::format("{}", *version) : ""},
        // Programs that time the host's calls print no time of the collective.
        {"time_us", time.us > 0 ? fmt::format("{}", time.us) : ""},
        {"wrong", fmt::format("{}", time.wrong.value_or(0))}};
    return record;
}

}  // namespace

CsvTable log_table(const std::filesystem::path& file) {
    const NcclTestsLog log = read_nccl_log(file);
    CsvTable table;
    table.columns.assign(std::begin(kLogColumns), std::end(kLogColumns));
    for (const NcclTestsRow& row : log.rows) {
        table.records.push_back(record_of(log, row, row.out_of_place, "out-of-place"));
        if (row.in_place)
            table.records.push_back(record_of(log, row, *row.in_place, "in-place"));
    }
    return table;
}

}  // namespace switchfold::validation
