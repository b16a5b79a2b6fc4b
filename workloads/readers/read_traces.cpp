// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/read_traces.h"

#include "sim/core/error.h"
#include "workloads/capture/capture_file.h"
#include "workloads/capture/read_captures.h"
#include "workloads/readers/chakra/group_members.h"
#include "workloads/readers/chakra/reader.h"
#include "workloads/readers/execution_trace/reader.h"
#include "workloads/readers/kineto/reader.h"
#include "workloads/readers/nccl_tests/log.h"
#include "workloads/readers/nccl_tests/reader.h"
#include "workloads/readers/nsight/reader.h"
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
            if (format == TraceFormat::kNsight)
                nsight_world_ += ranks_in_nsight(file, options.most);
            if (format == TraceFormat::kChakra)
                chakra_world_ = std::max(chakra_world_, rank_in_name(file, position++) + 1);
        }
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
        std::vector<TraceWorkload> parts;
        chakra_files_ = nsight_ranks_ = kineto_files_ = 0;
        // Read together, because each describes only part of its communicators.
        if (!captures_.empty())
            parts = capture::read_captures(captures_);
        for (std::size_t i = 0; i < files_.size(); ++i) {
            const TraceFormat format = files_[i].second;
            if (format == TraceFormat::kCapture)
                continue;
            if (format == TraceFormat::kExecutionTrace)
                throw ConfigError(
                    files_[i].first.string(),
                    "",
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
                    common.begin(),
                    common.end(),
                    here.begin(),
                    here.end(),
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
        case TraceFormat::kKineto:
        case TraceFormat::kExecutionTrace:
        case TraceFormat::kCapture:
        case TraceFormat::kChakraGroups:
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

    const ReadOptions& options_;
    std::vector<std::pair<std::filesystem::path, TraceFormat>> files_;
    std::vector<std::filesystem::path> captures_;
    chakra::GroupMembers groups_;  ///< of Chakra's, by name
    std::uint32_t chakra_world_ = 0;
    std::uint32_t chakra_files_ = 0;
    std::uint32_t kineto_files_ = 0;
    std::vector<std::int64_t> only_steps_;
    std::uint32_t nsight_world_ = 0;
    std::uint32_t nsight_ranks_ = 0;
};

}  // namespace

TraceFormat recognise(const std::filesystem::path& file) {
    const std::string beginning = beginning_of(file, kBeginning);
    if (is_sqlite(beginning))
        return TraceFormat::kNsight;
    if (is_own_trace(beginning))
        return TraceFormat::kOwn;
    if (capture::is_capture(beginning))
        return TraceFormat::kCapture;
    const std::size_t first = beginning.find_first_not_of(" \t\r\n");
    if (chakra::is_group_members(beginning))
        return TraceFormat::kChakraGroups;
    if (first != std::string::npos && (beginning[first] == '{' || beginning[first] == '['))
        return is_execution_trace(beginning) ? TraceFormat::kExecutionTrace : TraceFormat::kKineto;
    if (is_nccl_tests(beginning))
        return TraceFormat::kNcclTests;
    if (is_chakra(beginning))
        return TraceFormat::kChakra;
    throw ConfigError(
        file.string(),
        "byte 0",
        "is of no known trace format; expected switchfold's own, a capture, Kineto's (JSON), an "
        "export of Nsight Systems (SQLite), Chakra's (protobuf) or a log of nccl-tests");
}

TraceWorkload read_traces(const ReadOptions& options) {
    if (options.files.empty())
        throw ConfigError("workload", "/files", "names no trace; expected at least one file");
    return Reader(options).run();
}

}  // namespace switchfold
