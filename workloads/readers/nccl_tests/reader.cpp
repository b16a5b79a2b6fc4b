// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nccl_tests/reader.h"

#include "core/error.h"
#include "core/first_ranks.h"
#include "workloads/profile/classify.h"
#include "workloads/readers/nccl_tests/json_log.h"
#include "workloads/readers/nccl_tests/log.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace switchfold {

namespace {

TraceWorkload workload_of_log(const std::filesystem::path& file, NcclTestsLog log) {
    auto rank = std::make_shared<RankGraph>();
    rank->streams.push_back({StreamKind::kGpu, "nccl-tests", 0});
    TraceWorkload workload;
    Time now;
    BigVector<TraceWorkload::Measured> measured;
    NameTable names;
    for (const NcclTestsRow& row : log.rows) {
        CollectiveOperation collective;
        collective.kind = row.kind.value_or(log.kind);
        collective.bytes = Bytes(row.bytes);
        collective.datatype = parse_datatype(row.type).value_or(Datatype::kUint8);
        collective.sequence = rank->operations.size();
        collective.measured = Time(static_cast<std::uint64_t>(row.out_of_place.us * 1e6));
        Operation operation;
        operation.name = names.intern(to_string(collective.kind));
        operation.body = collective;
        rank->operations.push_back(std::move(operation));
        constexpr Time kLastBegin(UINT64_MAX / 4);
        if (collective.measured > kLastBegin - now)
            throw ConfigError(
                file.string(), fmt::format("row {}", measured.size()),
                "ends more than 53 days after the first begins; expected less");
        measured.push_back({now, now + collective.measured});
        now += collective.measured;
    }
    Group world{"world", first_ranks(log.ranks)};
    TraceFileReport report;
    report.file = file.string();
    report.format = log.program;
    report.warnings = std::move(log.notes);
    report.gpu_name = log.gpu;
    report.world_size = log.ranks;
    report.steps = 1;
    report.events = log.lines;
    report.used = std::move(log.used);
    report.dropped = std::move(log.dropped);
    count_operations(*rank, report);
    workload.graph.names = names.take();
    workload.graph.groups = {std::move(world)};
    workload.graph.ranks = {std::move(rank)};
    workload.graph.provenance = {file.string(), log.gpu, false, 1, log.ranks, now};
    workload.files = {std::move(report)};
    workload.measured = {std::move(measured)};
    return workload;
}

}  // namespace

TraceWorkload read_nccl_tests(const std::filesystem::path& file, std::uint64_t most) {
    return workload_of_log(file, read_nccl_log(file, most));
}

TraceWorkload read_nccl_json(const std::filesystem::path& file, std::uint64_t most) {
    return workload_of_log(file, read_nccl_json_log(file, most));
}

}  // namespace switchfold
