// SPDX-License-Identifier: Apache-2.0
#include "workloads/read_traces.h"

#include "sim/core/error.h"
#include "workloads/capture/capture_file.h"
#include "workloads/capture/read_captures.h"
#include "workloads/kineto/reader.h"
#include "workloads/trace_format/trace_file.h"

#include <map>
#include <utility>

namespace switchfold {

namespace {

constexpr std::size_t kBeginning = 1U << 16U;

/// Captures are read together: each tells a part of their communicators.
void read_group(
    TraceFormat format,
    const std::vector<std::filesystem::path>& files,
    std::uint64_t most,
    std::vector<TraceWorkload>& parts) {
    if (format == TraceFormat::kCapture) {
        for (TraceWorkload& part : capture::read_captures(files))
            parts.push_back(std::move(part));
        return;
    }
    for (const std::filesystem::path& file : files)
        parts.push_back(
            format == TraceFormat::kOwn ? read_trace(file, most) : read_kineto({{file}, most}));
}

}  // namespace

std::string_view to_string(TraceFormat format) {
    switch (format) {
    case TraceFormat::kOwn:
        return "switchfold";
    case TraceFormat::kCapture:
        return "switchfold capture";
    case TraceFormat::kKineto:
        break;
    }
    return "Kineto";
}

TraceFormat recognise(const std::filesystem::path& file) {
    const std::string beginning = beginning_of(file, kBeginning);
    if (is_own_trace(beginning))
        return TraceFormat::kOwn;
    if (capture::is_capture(beginning))
        return TraceFormat::kCapture;
    const std::size_t first = beginning.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && (beginning[first] == '{' || beginning[first] == '['))
        return TraceFormat::kKineto;
    throw ConfigError(
        file.string(),
        "byte 0",
        "is no trace that this reads; expected a Kineto trace (JSON), switchfold's own or a "
        "capture");
}

TraceWorkload read_traces(const ReadOptions& options) {
    if (options.files.empty())
        throw ConfigError("workload", "/files", "names no trace; expected at least one file");
    std::map<TraceFormat, std::vector<std::filesystem::path>> by_format;
    for (const std::filesystem::path& file : options.files)
        by_format[recognise(file)].push_back(file);
    std::vector<TraceWorkload> parts;
    for (const auto& [format, files] : by_format)
        read_group(format, files, options.most, parts);
    return join_ranks(std::move(parts));
}

}  // namespace switchfold
