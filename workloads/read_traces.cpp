// SPDX-License-Identifier: Apache-2.0
#include "workloads/read_traces.h"

#include "sim/core/error.h"
#include "workloads/kineto/reader.h"
#include "workloads/trace_format/trace_file.h"

namespace switchfold {

namespace {

constexpr std::size_t kBeginning = 1U << 16U;

TraceWorkload read_one(const std::filesystem::path& file, std::uint64_t most) {
    switch (recognise(file)) {
    case TraceFormat::kOwn:
        return read_trace(file, most);
    case TraceFormat::kKineto:
        break;
    }
    return read_kineto({{file}, most});
}

}  // namespace

std::string_view to_string(TraceFormat format) {
    switch (format) {
    case TraceFormat::kOwn:
        return "switchfold";
    case TraceFormat::kKineto:
        break;
    }
    return "Kineto";
}

TraceFormat recognise(const std::filesystem::path& file) {
    const std::string beginning = beginning_of(file, kBeginning);
    if (is_own_trace(beginning))
        return TraceFormat::kOwn;
    const std::size_t first = beginning.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && (beginning[first] == '{' || beginning[first] == '['))
        return TraceFormat::kKineto;
    throw ConfigError(
        file.string(),
        "byte 0",
        "is no trace that this reads; expected a Kineto trace (JSON) or switchfold's own");
}

TraceWorkload read_traces(const ReadOptions& options) {
    if (options.files.empty())
        throw ConfigError("workload", "/files", "names no trace; expected at least one file");
    std::vector<TraceWorkload> parts;
    for (const std::filesystem::path& file : options.files)
        parts.push_back(read_one(file, options.most));
    return join_ranks(std::move(parts));
}

}  // namespace switchfold
