// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/kineto/reader.h"

#include "core/error.h"
#include "workloads/profile/event_collector.h"
#include "workloads/readers/kineto/event_parser.h"
#include "workloads/readers/kineto/header.h"
#include "workloads/readers/kineto/scanner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace switchfold {

RawTrace read_raw_trace(
    const std::filesystem::path& file, std::uint64_t max_inflated, const ExecutionTrace* shapes) {
    std::vector<RawTrace> traces = read_raw_traces({file, max_inflated, shapes});
    if (traces.size() != 1)
        throw ConfigError(
            file.string(), "",
            fmt::format("holds the kernels of {} ranks; expected one", traces.size()));
    return std::move(traces.front());
}

namespace {

/// What of a file belongs to one rank.
struct FilePart {
    std::string tag;  ///< that begins its processes' names, "[TP00]"; empty: none
    std::optional<std::uint64_t> device;
};

/// "[TP00]" of "[TP00] 100", which a tool writes that merges ranks into one file.
std::string_view tag_of(std::string_view process) {
    if (process.empty() || process.front() != '[')
        return {};
    return process.substr(0, process.find(']') + 1);
}

class FileReader {
public:
    explicit FileReader(const KinetoFile& file) : file_(file), path_(file.file.string()) {}

    std::vector<RawTrace> run() {
        std::vector<RawTrace> traces;
        traces.push_back(read({}));
        if (tags_.size() > 1)
            return read_tags();
        if (processes_.size() > 1)
            throw ConfigError(
                path_, "",
                fmt::format(
                    "holds launches of the processes {}; expected the trace of one rank: give the "
                    "files that it was merged from",
                    fmt::join(processes_, ", ")));
        if (devices_.size() > 1)
            return read_devices();
        return traces;
    }

private:
    /// Reads the file's part; of a file of several parts without saying which, only what they are.
    RawTrace read(const FilePart& part) {
        RawTrace raw;
        raw.report.file = path_;
        raw.report.format = "Kineto";
        TraceScanner::Limits limits;
        limits.inflated = file_.max_inflated;
        TraceScanner scanner(file_.file, limits);
        EventCollector collector(raw);
        if (part.device)
            collector.only_device(*part.device);
        collector.only_steps(file_.only_steps);
        EventParser parser;
        TraceEvent event;
        std::vector<Problem> problems;
        scanner.run([&](std::string& text, std::uint64_t offset) {
            ++raw.report.events;
            try {
                parser.parse(text, event);
            } catch (const std::invalid_argument& error) {
                constexpr std::size_t kMostTold = 20;
                problems.push_back(
                    {path_, fmt::format("byte {}", offset),
                     fmt::format("event {}: {}", raw.report.events - 1, error.what())});
                if (problems.size() == kMostTold)
                    throw ConfigError(std::move(problems));
                return;
            }
            const std::string_view tag = tag_of(event.process);
            if (!tag.empty() && event.grid)
                tags_.emplace(tag);
            if (part.tag.empty() || tag == part.tag)
                collector.add(event);
        });
        if (!problems.empty())
            throw ConfigError(std::move(problems));
        processes_ = collector.processes();
        devices_ = collector.kernels_by_device();
        const bool several =
            (part.tag.empty() && tags_.size() > 1) || (!part.device && devices_.size() > 1);
        read_header(
            scanner.values(), part.device.value_or(devices_.empty() ? 0 : devices_.begin()->first),
            raw);
        refuse_other_gpus(collector.other_runtimes(), raw.report.gpu_name);
        world_ = raw.report.world_size;
        states_rank_ = raw.report.states_rank;
        if (!raw.report.states_rank) {
            raw.report.rank = file_.position;
            raw.report.world_size = std::max(file_.files, largest_world(raw));
            if (file_.files > 1)
                raw.report.warnings.push_back(fmt::format(
                    "no file states its rank (\"distributedInfo\"): it is the file's position "
                    "among the {} given",
                    file_.files));
        }
        if (several)
            return raw;
        if (file_.shapes != nullptr)
            collector.take_shapes(*file_.shapes);
        collector.finish();
        return raw;
    }

    /// PyTorch profiles GPUs of other vendors in the same format.
    void refuse_other_gpus(const std::set<std::string>& runtimes, const std::string& gpu) const {
        const bool of_intel = gpu.starts_with("Intel");
        if (runtimes.empty() && !of_intel)
            return;
        throw ConfigError(
            path_, "",
            fmt::format(
                "was taken on other GPUs than NVIDIA's and AMD's ({}); expected a trace with calls "
                "of CUDA or HIP",
                of_intel ? gpu : fmt::format("calls of {}", fmt::join(runtimes, ", "))));
    }

    std::vector<RawTrace> read_tags() {
        const std::set<std::string> tags = tags_;
        if (file_.files > 1 || (states_rank_ && world_ != 1 && world_ != tags.size()))
            throw ConfigError(
                path_, "",
                fmt::format(
                    "holds the ranks {}, merged into one file; expected the files that it was "
                    "merged from",
                    fmt::join(tags, ", ")));
        std::vector<FilePart> parts;
        for (const std::string& tag : tags)
            parts.push_back({tag, {}});
        return read_parts(
            parts, fmt::format("the file holds the ranks {}, merged", fmt::join(tags, ", ")));
    }

    std::vector<RawTrace> read_devices() {
        const std::map<std::uint64_t, std::uint64_t> devices = devices_;
        if (file_.files > 1 || (states_rank_ && world_ > 1))
            throw ConfigError(
                path_, "",
                fmt::format(
                    "holds kernels of {} GPUs and is {}; expected one GPU a rank", devices.size(),
                    states_rank_ && world_ > 1 ? fmt::format("of a run of {} ranks", world_)
                                               : fmt::format("one of {} files", file_.files)));
        std::vector<FilePart> parts;
        for (const auto& [device, kernels] : devices)
            parts.push_back({{}, device});
        return read_parts(
            parts,
            fmt::format(
                "one process ran the kernels of {} GPUs: each GPU is a rank", devices.size()));
    }

    std::vector<RawTrace> read_parts(const std::vector<FilePart>& parts, const std::string& note) {
        std::vector<RawTrace> traces;
        for (const FilePart& part : parts) {
            RawTrace raw = read(part);
            if (!part.device && devices_.size() > 1)
                throw ConfigError(
                    path_, "",
                    fmt::format(
                        "holds kernels of {} GPUs of the rank {}; expected one GPU a rank",
                        devices_.size(), part.tag));
            raw.report.rank = static_cast<std::uint32_t>(traces.size());
            raw.report.world_size =
                std::max(raw.report.world_size, static_cast<std::uint32_t>(parts.size()));
            raw.report.warnings.push_back(note);
            traces.push_back(std::move(raw));
        }
        return traces;
    }

    const KinetoFile& file_;
    std::string path_;
    std::set<std::string> tags_;
    std::set<std::string> processes_;
    std::map<std::uint64_t, std::uint64_t> devices_;
    std::uint32_t world_ = 1;
    bool states_rank_ = true;
};

}  // namespace

std::vector<RawTrace> read_raw_traces(const KinetoFile& file) {
    return FileReader(file).run();
}

TraceWorkload read_kineto(const KinetoOptions& options) {
    if (options.files.empty())
        throw ConfigError("workload", "/files", "names no trace; expected at least one file");
    std::vector<TraceWorkload> ranks;
    std::uint32_t position = 0;
    for (const std::filesystem::path& path : options.files) {
        KinetoFile file{path, options.max_inflated};
        file.position = position++;
        file.files = static_cast<std::uint32_t>(options.files.size());
        for (RawTrace& raw : read_raw_traces(file))
            ranks.push_back(workload_of(std::move(raw)));
    }
    return join_ranks(std::move(ranks));
}

}  // namespace switchfold
