// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/read_captures.h"

#include "core/error.h"
#include "workloads/capture/capture_file.h"
#include "workloads/capture/events/events.h"
#include "workloads/profile/event_collector.h"
#include "workloads/profile/raw_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace switchfold::capture {

namespace {

struct Passes {
    std::vector<CaptureFile> first;
    std::map<std::uint32_t, CaptureFile> counters;  ///< by rank
};

Passes read_all(const std::vector<std::filesystem::path>& files) {
    Passes passes;
    for (const std::filesystem::path& path : files) {
        CaptureFile file = read_capture(path);
        if (!file.session.counters) {
            passes.first.push_back(std::move(file));
            continue;
        }
        const std::uint32_t rank = file.session.rank;
        if (const auto before = passes.counters.find(rank); before != passes.counters.end())
            throw ConfigError(
                path.string(), "",
                fmt::format(
                    "counts rank {} as {} does; expected one second pass a rank", rank,
                    before->second.path.string()));
        passes.counters.emplace(rank, std::move(file));
    }
    for (const auto& [rank, file] : passes.counters)
        if (std::none_of(
                passes.first.begin(), passes.first.end(),
                [wanted = rank](const auto& first) { return first.session.rank == wanted; }))
            throw ConfigError(
                file.path.string(), "",
                fmt::format(
                    "is a second pass, which holds no times; expected rank {}'s first pass with it",
                    rank));
    return passes;
}

/// The device that the capture's kernels ran on; if there are none, the first known device.
const Device* device_of(const CaptureFile& file) {
    for (const Device& device : file.devices)
        if (!file.kernels.empty() && device.id == file.kernels.front().device)
            return &device;
    return file.devices.empty() ? nullptr : &file.devices.front();
}

TraceFileReport report_of(const CaptureFile& file) {
    TraceFileReport report;
    report.file = file.path.string();
    report.format = "switchfold capture";
    report.rank = file.session.rank;
    report.world_size = file.session.world_size;
    report.events = file.records;
    if (const Device* device = device_of(file)) {
        report.gpu_name = device->name;
        report.memory_bytes = device->memory_bytes;
        report.sms = device->sms;
    }
    return report;
}

/// Warns of groups for which captures of some members are missing.
void warn_of_unknown_ranks(
    const CaptureFile& file, const CommunicatorRanks& known, TraceFileReport& report) {
    std::set<std::uint64_t> unknown;
    for (const NcclCall& call : file.nccl_calls)
        if (known.count(call.communicator) == 0)
            unknown.insert(call.communicator);
    if (!unknown.empty())
        report.warnings.push_back(fmt::format(
            "{} communicators have ranks whose captures are not given: their ranks are guessed "
            "from their sizes",
            unknown.size()));
}

/// Counts the records that do not become events, so that all records are accounted for.
void count_other_records(const CaptureFile& file, TraceFileReport& report) {
    const auto count = [](auto& counts, const char* what, std::uint64_t records) {
        if (records > 0)
            counts[what] += records;
    };
    const std::uint64_t session = file.ended ? 2 : 1;
    count(
        report.used, "names, devices and other descriptions",
        session + file.names.size() - 1 + file.devices.size() + file.streams.size() +
            file.communicators.size() + file.lost.size());
    count(report.used, "second ends of NVTX ranges", file.ranges.size());
    const auto unmatched = report.dropped.find(kCallsWithoutKernel);
    count(
        report.used, "NCCL calls",
        file.nccl_calls.size() - (unmatched == report.dropped.end() ? 0 : unmatched->second));
    count(report.dropped, "NVTX marks and ends of ranges without a start", file.marks);
    count(report.dropped, "NVTX ranges without an end", file.open_ranges);
    count(report.dropped, "records of an unknown kind", file.unknown_records);
    count(report.dropped, "counters beside times", file.counters.size());
}

TraceWorkload workload_of_capture(
    const CaptureFile& file, const CaptureFile* counters, const CommunicatorRanks& communicators) {
    RawTrace raw;
    raw.report = report_of(file);
    EventCollector collector(raw);
    const EventsReport events =
        add_events(file, counters, communicators, [&](TraceEvent& event) { collector.add(event); });
    for (const auto& [reason, count] : events.dropped)
        raw.report.dropped[reason] += count;
    raw.report.warnings = events.warnings;
    raw.report.events += events.made;
    count_other_records(file, raw.report);
    warn_of_unknown_ranks(file, communicators, raw.report);
    collector.finish();
    return workload_of(std::move(raw));
}

}  // namespace

std::vector<TraceWorkload> read_captures(const std::vector<std::filesystem::path>& files) {
    const Passes passes = read_all(files);
    std::vector<const CaptureFile*> captures;
    for (const CaptureFile& file : passes.first)
        captures.push_back(&file);
    const CommunicatorRanks communicators = communicator_ranks(captures);
    std::vector<TraceWorkload> workloads;
    for (const CaptureFile& file : passes.first) {
        const auto counters = passes.counters.find(file.session.rank);
        workloads.push_back(workload_of_capture(
            file, counters == passes.counters.end() ? nullptr : &counters->second, communicators));
    }
    return workloads;
}

}  // namespace switchfold::capture
