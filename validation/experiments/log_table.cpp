// SPDX-License-Identifier: Apache-2.0
#include "validation/experiments/log_table.h"

#include "validation/collectives/nccl_logs.h"

#include <fmt/format.h>

#include <string>

namespace switchfold::validation {

namespace {

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

CsvTable log_table(const std::filesystem::path& file) {
    CsvTable table;
    table.columns.assign(std::begin(kLogColumns), std::end(kLogColumns));
    for (const MeasuredRow& row : rows_of_log(read_nccl_log(file), file))
        table.records.push_back(record_of(row));
    return table;
}

}  // namespace switchfold::validation
