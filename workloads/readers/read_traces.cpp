// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/read_traces.h"

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "workloads/capture/capture_file.h"
#include "workloads/capture/read_captures.h"
#include "workloads/readers/chakra/reader.h"
#include "workloads/readers/execution_trace/reader.h"
#include "workloads/readers/flight_recorder/reader.h"
#include "workloads/readers/json_beginning.h"
#include "workloads/readers/kineto/reader.h"
#include "workloads/readers/nccl_inspector/reader.h"
#include "workloads/readers/nccl_tests/log.h"
#include "workloads/readers/nccl_tests/reader.h"
#include "workloads/readers/nsight/reader.h"
#include "workloads/readers/other_tools.h"
#include "workloads/readers/rocprof/reader.h"
#include "workloads/readers/trace_format/trace_file.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

constexpr std::size_t kBeginning = 1U << 16U;

class Reader {
public:
    explicit Reader(const ReadOptions& options) : options_(options) {
        for (const std::filesystem::path& file : options.files)
            files_.emplace_back(file, recognise(file));
        std::uint32_t position = 0;
        for (const auto& [file, format] : files_) {
            if (format == TraceFormat::kCapture)
                captures_.push_back(file);
            if (format == TraceFormat::kNcclInspector)
                inspector_logs_.push_back(file);
            if (format == TraceFormat::kFlightRecorder)
                recorder_dumps_.push_back(file);
            if (format == TraceFormat::kNsight)
                nsight_world_ += ranks_in_nsight(file, options.most);
            if (format == TraceFormat::kRocprof)
                rocprof_world_ += ranks_in_rocprof(file, options.most);
            if (format == TraceFormat::kChakra)
                chakra_world_ = std::max(chakra_world_, rank_in_name(file, position++) + 1);
        }
    }

    TraceWorkload run() {
        std::vector<TraceWorkload> parts = read_together();
        for (std::size_t i = 0; i < files_.size(); ++i) {
            if (is_read_together(files_[i].second))
                continue;
            if (files_[i].second == TraceFormat::kExecutionTrace)
                throw ConfigError(
                    files_[i].first.string(),
                    "",
                    "holds operators without times; expected it right behind the Kineto trace of "
                    "the same rank");
            const bool paired = i + 1 < files_.size() && files_[i].second == TraceFormat::kKineto &&
                                files_[i + 1].second == TraceFormat::kExecutionTrace;
            parts.push_back(paired ? read_pair(i) : read(i));
            i += paired ? 1 : 0;
        }
        return join_ranks(std::move(parts));
    }

private:
    static bool is_read_together(TraceFormat format) {
        return format == TraceFormat::kCapture || format == TraceFormat::kNcclInspector ||
               format == TraceFormat::kFlightRecorder;
    }

    /// Files of which each describes only part of its communicators.
    std::vector<TraceWorkload> read_together() {
        std::vector<TraceWorkload> parts;
        const auto append = [&parts](std::vector<TraceWorkload> more) {
            std::move(more.begin(), more.end(), std::back_inserter(parts));
        };
        if (!captures_.empty())
            append(capture::read_captures(captures_));
        if (!inspector_logs_.empty())
            append(read_nccl_inspector(inspector_logs_, options_.most));
        if (!recorder_dumps_.empty())
            append(read_flight_recorder(recorder_dumps_, options_.most));
        return parts;
    }

    TraceWorkload read_pair(std::size_t index) {
        const ExecutionTrace shapes = read_execution_trace(files_[index + 1].first, options_.most);
        return workload_of(read_raw_trace(files_[index].first, options_.most, &shapes));
    }

    TraceWorkload read(std::size_t index) {
        const auto& [file, format] = files_[index];
        switch (format) {
        case TraceFormat::kOwn:
            return read_trace(file, options_.most);
        case TraceFormat::kNsight:
            return read_nsight_report(file);
        case TraceFormat::kChakra:
            return read_chakra(
                {file, rank_in_name(file, chakra_files_++), chakra_world_, options_.most});
        case TraceFormat::kNcclTests:
            return read_nccl_tests(file, options_.most);
        case TraceFormat::kNcclTestsJson:
            return read_nccl_json(file, options_.most);
        case TraceFormat::kRocprof:
            return read_rocprof_file(file);
        case TraceFormat::kKineto:
        case TraceFormat::kExecutionTrace:
        case TraceFormat::kCapture:
        case TraceFormat::kNcclInspector:
        case TraceFormat::kFlightRecorder:
            break;
        }
        return workload_of(read_raw_trace(file, options_.most));
    }

    /// Ranks of several reports are numbered consecutively, in the given order.
    TraceWorkload read_nsight_report(const std::filesystem::path& file) {
        TraceWorkload workload = read_nsight(file, {nsight_ranks_, nsight_world_, options_.most});
        nsight_ranks_ += static_cast<std::uint32_t>(workload.files.size());
        return workload;
    }

    TraceWorkload read_rocprof_file(const std::filesystem::path& file) {
        TraceWorkload workload =
            read_rocprof(file, {rocprof_ranks_, rocprof_world_, options_.most});
        rocprof_ranks_ += static_cast<std::uint32_t>(workload.files.size());
        return workload;
    }

    const ReadOptions& options_;
    std::vector<std::pair<std::filesystem::path, TraceFormat>> files_;
    std::vector<std::filesystem::path> captures_;
    std::vector<std::filesystem::path> inspector_logs_;
    std::vector<std::filesystem::path> recorder_dumps_;
    std::uint32_t chakra_world_ = 1;
    std::uint32_t chakra_files_ = 0;
    std::uint32_t nsight_world_ = 0;
    std::uint32_t nsight_ranks_ = 0;
    std::uint32_t rocprof_world_ = 0;
    std::uint32_t rocprof_ranks_ = 0;
};

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what) {
    throw ConfigError(file.string(), "byte 0", what);
}

/// By the keys of the first object.
TraceFormat format_of_json(const std::filesystem::path& file, const std::string& beginning) {
    const JsonBeginning json = json_beginning(beginning);
    if (json.has("coll_perf") || json.has("p2p_perf") || json.has("dump_stats") ||
        json.has("proxy_trace"))
        return TraceFormat::kNcclInspector;
    const bool of_rccl_tests = json.has("busBw") && json.has("size");
    const bool of_nccl_tests = json.has("start_time") && json.has("args") && json.has("env");
    if (of_rccl_tests || of_nccl_tests)
        return TraceFormat::kNcclTestsJson;
    if (json.has("rocprofiler-sdk-tool"))
        return TraceFormat::kRocprof;
    if (is_execution_trace(beginning))
        return TraceFormat::kExecutionTrace;
    const bool of_recorder = json.has("pg_config") || json.has("pg_status") ||
                             (json.has("entries") && contains(beginning, "\"profiling_name\""));
    if (of_recorder && !json.has("traceEvents"))
        return TraceFormat::kFlightRecorder;
    if (const auto other = other_tool_of_json(beginning, json))
        refuse(file, *other);
    return TraceFormat::kKineto;
}

}  // namespace

TraceFormat recognise(const std::filesystem::path& file) {
    const std::string beginning = beginning_of(file, kBeginning);
    if (is_sqlite(beginning)) {
        if (const auto other = other_tool_of_sqlite(beginning))
            refuse(file, *other);
        return TraceFormat::kNsight;
    }
    if (is_own_trace(beginning))
        return TraceFormat::kOwn;
    if (capture::is_capture(beginning))
        return TraceFormat::kCapture;
    const std::size_t first = beginning.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && (beginning[first] == '{' || beginning[first] == '['))
        return format_of_json(file, beginning);
    if (is_nccl_tests(beginning))
        return TraceFormat::kNcclTests;
    if (!is_xplane(beginning) && is_chakra(beginning))
        return TraceFormat::kChakra;
    if (const auto other = other_tool(file, beginning))
        refuse(file, *other);
    refuse(
        file,
        "is of no known trace format; expected switchfold's own, a capture, Kineto's (JSON), an "
        "export of Nsight Systems (SQLite), rocprofv3's (JSON), Chakra's (protobuf), a dump of "
        "PyTorch's flight recorder (JSON), a log of NCCL's Inspector or of nccl-tests");
}

TraceWorkload read_traces(const ReadOptions& options) {
    if (options.files.empty())
        throw ConfigError("workload", "/files", "names no trace; expected at least one file");
    return Reader(options).run();
}

}  // namespace switchfold
