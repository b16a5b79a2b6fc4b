// SPDX-License-Identifier: Apache-2.0
#include "validation/collectives/measurements_near.h"

#include "sim/machine/system_queries.h"
#include "validation/harness/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace switchfold::validation {

namespace {

constexpr std::array kTables{
    "reference/nccl_allreduce.csv", "reference/nccl_collectives.csv", "reference/nccl_issues.csv"};
constexpr std::size_t kTablesNamed = 3;

bool is_near(std::uint64_t bytes, std::uint64_t size) {
    return bytes <= 2 * size && size <= 2 * bytes;
}

/// "64K", "1G".
std::string short_size(std::uint64_t bytes) {
    constexpr std::uint64_t kStep = 1024;
    std::size_t unit = 0;
    while (bytes >= kStep && bytes % kStep == 0) {
        bytes /= kStep;
        ++unit;
    }
    return fmt::format("{}{}", bytes, std::array{"", "K", "M", "G", "T"}.at(unit));
}

std::string named(const std::vector<std::string>& tables) {
    std::string text;
    for (std::size_t i = 0; i < std::min(tables.size(), kTablesNamed); ++i)
        text += (i == 0 ? "" : ", ") + tables[i];
    if (tables.size() > kTablesNamed)
        text += fmt::format(" and {} more", tables.size() - kTablesNamed);
    return text;
}

}  // namespace

std::vector<MeasuredOperation> measurements_near(
    const std::vector<MeasuredRow>& rows, const Machines& machines, const SystemParams& system,
    std::span<const std::uint64_t> sizes) {
    const std::uint32_t gpus = gpus_of(system);
    std::vector<MeasuredOperation> operations;
    for (const CollectiveKind kind : kCollectiveKinds)
        operations.push_back({kind, std::vector<std::uint32_t>(sizes.size(), 0), {}});
    for (const MeasuredRow& row : rows) {
        if (!row.collective || !row.bytes || row.gpus != gpus || !row.unusable.empty() ||
            !measured_time(row))
            continue;
        const MachineMatch& match = machines.find({row.gpu, row.interconnect, row.gpus, row.nodes});
        if (!match.machine || match.machine->name != system.name)
            continue;
        const auto operation = std::find_if(
            operations.begin(), operations.end(),
            [&](const MeasuredOperation& candidate) { return candidate.kind == *row.collective; });
        if (operation == operations.end())
            continue;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (!is_near(*row.bytes, sizes[i]))
                continue;
            ++operation->near[i];
            if (std::find(operation->tables.begin(), operation->tables.end(), row.table) ==
                operation->tables.end())
                operation->tables.push_back(row.table);
        }
    }
    return operations;
}

std::string describe_measurements(
    const SystemParams& system, const Machines& machines, const std::filesystem::path& root,
    const std::filesystem::path& measurements) {
    SuiteOptions options;
    options.root = root;
    options.measurements = measurements;
    std::vector<MeasuredRow> rows;
    for (const char* const table : kTables)
        if (const auto found = find_data(options, table))
            for (MeasuredRow& row : read_collective_tables(*found))
                rows.push_back(std::move(row));
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t bytes = 1024; bytes <= 4ULL << 30U; bytes *= 4)
        sizes.push_back(bytes);
    std::string out = fmt::format(
        "\nmeasured times of all {} GPUs within a factor of two of each size (-: no measurement):\n"
        "  {:<14}",
        gpus_of(system), "");
    for (const std::uint64_t bytes : sizes)
        out += fmt::format("{:>5}", short_size(bytes));
    for (const MeasuredOperation& operation : measurements_near(rows, machines, system, sizes)) {
        out += fmt::format("\n  {:<14}", to_string(operation.kind));
        if (operation.tables.empty()) {
            out += " no measurement";
            continue;
        }
        for (const std::uint32_t near : operation.near)
            out += near == 0 ? "    -" : fmt::format("{:>5}", near);
        out += fmt::format("  from {}", named(operation.tables));
    }
    return out + "\n";
}

}  // namespace switchfold::validation
