// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nccl_tests/reader.h"

#include "core/error.h"
#include "core/first_ranks.h"
#include "workloads/profile/classify.h"
#include "workloads/readers/nccl_tests/json_log.h"
#include "workloads/readers/nccl_tests/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

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
    const auto of_host = std::ranges::count_if(
        log.rows, [](const NcclTestsRow& row) { return !(row.out_of_place.us > 0); });
    if (of_host > 0)
        report.warnings.push_back(fmt::format(
            "{} times are those of the host's calls (-C 1): taken as not known", of_host));
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

void add(std::map<std::string, std::uint64_t>& to, const std::map<std::string, std::uint64_t>& of) {
    for (const auto& [what, lines] : of)
        to[what] += lines;
}

/// Runs of a file as one: one after the other.
NcclTestsLog in_a_row(const std::filesystem::path& file, std::vector<NcclTestsLog> runs) {
    NcclTestsLog whole = std::move(runs.front());
    for (NcclTestsRow& row : whole.rows)
        row.kind = whole.kind;
    for (NcclTestsLog& run : std::span(runs).subspan(1)) {
        if (run.ranks != whole.ranks)
            throw ConfigError(
                file.string(), fmt::format("line {}", run.rows.front().line),
                fmt::format(
                    "is of {} ranks, and what precedes it of {}; expected runs of as many ranks, "
                    "or a file each",
                    run.ranks, whole.ranks));
        for (NcclTestsRow& row : run.rows) {
            row.kind = run.kind;
            whole.rows.push_back(std::move(row));
        }
        std::ranges::move(run.unread, std::back_inserter(whole.unread));
        add(whole.used, run.used);
        add(whole.dropped, run.dropped);
        whole.lines += run.lines;
    }
    for (const UnreadRow& row : whole.unread)
        whole.notes.push_back(fmt::format("line {} {}: it is left out", row.line, row.why));
    return whole;
}

}  // namespace

TraceWorkload read_nccl_tests(const std::filesystem::path& file, std::uint64_t most) {
    return workload_of_log(file, in_a_row(file, read_nccl_logs(file, most)));
}

TraceWorkload read_nccl_json(const std::filesystem::path& file, std::uint64_t most) {
    return workload_of_log(file, read_nccl_json_log(file, most));
}

}  // namespace switchfold
