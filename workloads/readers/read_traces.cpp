// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/read_traces.h"

#include "core/error.h"
#include "core/text.h"
#include "workloads/capture/capture_file.h"
#include "workloads/capture/read_captures.h"
#include "workloads/readers/chakra/group_members.h"
#include "workloads/readers/chakra/reader.h"
#include "workloads/readers/execution_trace/reader.h"
#include "workloads/readers/flight_recorder/reader.h"
#include "workloads/readers/json_beginning.h"
#include "workloads/readers/kineto/reader.h"
#include "workloads/readers/nccl_inspector/reader.h"
#include "workloads/readers/nccl_tests/json_log.h"
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
        std::vector<std::filesystem::path> rocprof_files;
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
                rocprof_files.push_back(file);
            if (format == TraceFormat::kChakra)
                chakra_world_ = std::max(chakra_world_, rank_in_name(file, position++) + 1);
        }
        if (rocprof_files.size() > 1)  // one alone tells its world as it is read
            for (const std::filesystem::path& file : rocprof_files)
                rocprof_world_ += ranks_in_rocprof(file, options.most);
        std::erase_if(files_, [this](const auto& file) {
            if (file.second == TraceFormat::kChakraGroups)
                add_groups(file.first);
            return file.second == TraceFormat::kChakraGroups;
        });
    }

    TraceWorkload run() {
        std::vector<TraceWorkload> parts = read_parts();
        // Ranks whose whole steps differ are replayed over those that all have.
        only_steps_ = common_steps(parts);
        if (!only_steps_.empty()) {
            parts.clear();
            parts = read_parts();
        }
        TraceWorkload workload = join_ranks(std::move(parts));
        if (chakra_files_ > 0)
            chakra::complete_groups(workload);
        return workload;
    }

private:
    std::vector<TraceWorkload> read_parts() {
        chakra_files_ = nsight_ranks_ = rocprof_ranks_ = kineto_files_ = 0;
        std::vector<TraceWorkload> parts = read_together();
        for (std::size_t i = 0; i < files_.size(); ++i) {
            const TraceFormat format = files_[i].second;
            if (is_read_together(format))
                continue;
            if (format == TraceFormat::kExecutionTrace)
                throw ConfigError(
                    files_[i].first.string(), "",
                    "holds operators without times; expected it right behind the Kineto trace of "
                    "the same rank");
            if (format != TraceFormat::kKineto) {
                parts.push_back(read(i));
                continue;
            }
            const bool paired =
                i + 1 < files_.size() && files_[i + 1].second == TraceFormat::kExecutionTrace;
            read_kineto_file(i, paired, parts);
            i += paired ? 1 : 0;
        }
        return parts;
    }

    /// Numbers of the steps that all ranks have, if they have different ones; else none.
    static std::vector<std::int64_t> common_steps(const std::vector<TraceWorkload>& parts) {
        std::vector<std::int64_t> common;
        bool differ = false;
        bool first = true;
        for (const TraceWorkload& part : parts)
            for (const TraceFileReport& file : part.files) {
                std::vector<std::int64_t> here = file.step_numbers;
                if (here.empty() || here.front() < 0)
                    return {};
                if (first)
                    common = here;
                differ = differ || here != common;
                std::vector<std::int64_t> both;
                std::set_intersection(
                    common.begin(), common.end(), here.begin(), here.end(),
                    std::back_inserter(both));
                common = std::move(both);
                first = false;
            }
        return differ ? common : std::vector<std::int64_t>{};
    }

    void read_kineto_file(std::size_t index, bool paired, std::vector<TraceWorkload>& parts) {
        KinetoFile file{files_[index].first, options_.most};
        std::optional<ExecutionTrace> shapes;
        if (paired)
            shapes = read_execution_trace(files_[index + 1].first, options_.most);
        file.shapes = shapes ? &*shapes : nullptr;
        file.position = kineto_files_++;
        file.files = static_cast<std::uint32_t>(
            std::count_if(files_.begin(), files_.end(), [](const auto& f) {
                return f.second != TraceFormat::kExecutionTrace;
            }));
        file.only_steps = only_steps_;
        for (RawTrace& raw : read_raw_traces(file))
            parts.push_back(workload_of(std::move(raw)));
    }

    void add_groups(const std::filesystem::path& file) {
        if (chakra_world_ == 0)
            throw ConfigError(
                file.string(), "", "holds process groups; expected it beside Chakra traces");
        for (auto& [name, ranks] : chakra::read_group_members(file)) {
            chakra_world_ = std::max(chakra_world_, ranks.back() + 1);
            groups_[name] = std::move(ranks);
        }
    }

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

    TraceWorkload read(std::size_t index) {
        const auto& [file, format] = files_[index];
        switch (format) {
        case TraceFormat::kOwn:
            return read_trace(file, options_.most);
        case TraceFormat::kNsight:
            return read_nsight_report(file);
        case TraceFormat::kChakra:
            return read_chakra(
                {file, rank_in_name(file, chakra_files_++), chakra_world_, options_.most, groups_});
        case TraceFormat::kNcclTests:
            return read_nccl_tests(file, options_.most);
        case TraceFormat::kNcclTestsJson:
            return read_nccl_json(file, options_.most);
        case TraceFormat::kRocprof:
            return read_rocprof_file(file);
        case TraceFormat::kKineto:
        case TraceFormat::kExecutionTrace:
        case TraceFormat::kCapture:
        case TraceFormat::kChakraGroups:
        case TraceFormat::kNcclInspector:
        case TraceFormat::kFlightRecorder:
            break;
        }
        SWITCHFOLD_CHECK(false, "{} is read elsewhere", file.string());
        return {};
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
    chakra::GroupMembers groups_;  ///< of Chakra's, by name
    std::uint32_t chakra_world_ = 0;
    std::uint32_t chakra_files_ = 0;
    std::uint32_t kineto_files_ = 0;
    std::vector<std::int64_t> only_steps_;
    std::uint32_t nsight_world_ = 0;
    std::uint32_t nsight_ranks_ = 0;
    std::uint32_t rocprof_world_ = 0;  ///< 0: that of the only file
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
    if (is_nccl_tests_json(json))
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
    if (chakra::is_group_members(beginning))
        return TraceFormat::kChakraGroups;
    // Launchers and loggers begin lines with "[1,0]<stdout>:" or "[default0]:", which is no JSON.
    if (is_nccl_tests(beginning) && json_beginning(beginning).keys.empty())
        return TraceFormat::kNcclTests;
    if (first != std::string::npos && (beginning[first] == '{' || beginning[first] == '['))
        return format_of_json(file, beginning);
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

bool may_lack_rank(TraceFormat format) {
    switch (format) {
    case TraceFormat::kNsight:
    case TraceFormat::kChakra:
    case TraceFormat::kChakraGroups:
    case TraceFormat::kCapture:
    case TraceFormat::kNcclInspector:
    case TraceFormat::kFlightRecorder:
    case TraceFormat::kRocprof:
        return true;
    default:
        return false;
    }
}

TraceWorkload read_traces(const ReadOptions& options) {
    if (options.files.empty())
        throw ConfigError("workload", "/files", "names no trace; expected at least one file");
    return Reader(options).run();
}

}  // namespace switchfold
