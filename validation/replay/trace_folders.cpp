// SPDX-License-Identifier: Apache-2.0
#include "validation/replay/trace_folders.h"

#include "core/byte_codec.h"
#include "core/error.h"
#include "sim/kinds/trace/trace_params.h"
#include "sim/pool/pool.h"
#include "validation/harness/data.h"
#include "workloads/readers/read_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace switchfold::validation {

namespace {

/// Nothing if the format is not known.
std::optional<TraceFormat> format_of(const std::filesystem::path& file) {
    try {
        return recognise(file);
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

std::optional<TraceFolder> folder_at(const std::filesystem::path& path, const FileKind& kind) {
    TraceFolder folder;
    folder.path = path;
    folder.name = (path.has_filename() ? path : path.parent_path()).filename().string();
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path, error))
        if (entry.is_regular_file(error) && kind.takes(entry.path()))
            folder.files.push_back(entry.path());
    if (folder.files.empty())
        return std::nullopt;
    std::sort(folder.files.begin(), folder.files.end());
    return folder;
}

/// From 2.10 to 2.12 kernels take one element of work; a later one takes the communicator.
std::optional<std::uint32_t> nccl_version_of(const std::vector<std::string>& names) {
    constexpr std::uint32_t kOldest = 21'003;
    const bool found = std::any_of(names.begin(), names.end(), [](const std::string& name) {
        return name.starts_with("ncclKernel_") && name.ends_with("(ncclWorkElem)");
    });
    return found ? std::optional(kOldest) : std::nullopt;
}

/// Files to be read together. In some formats a single file does not state its rank.
std::vector<std::vector<std::filesystem::path>> parts_of(const TraceFolder& folder) {
    std::vector<std::vector<std::filesystem::path>> parts;
    std::map<TraceFormat, std::size_t> together;
    for (const auto& file : folder.files) {
        auto format = format_of(file);
        if (format == TraceFormat::kChakraGroups)
            format = TraceFormat::kChakra;
        if (!format || !may_lack_rank(*format)) {
            parts.push_back({file});
            continue;
        }
        const auto [part, fresh] = together.try_emplace(*format, parts.size());
        if (fresh)
            parts.emplace_back();
        parts[part->second].push_back(file);
    }
    return parts;
}

}  // namespace

bool may_be_kineto(const std::filesystem::path& file) {
    const std::string name = file.filename().string();
    return name.ends_with(".json") || name.ends_with(".json.gz");
}

bool may_be_trace(const std::filesystem::path& file) {
    return may_be_kineto(file) || format_of(file);
}

std::vector<TraceFolder> trace_folders(const std::filesystem::path& data, const FileKind& kind) {
    if (auto here = folder_at(data, kind))
        return {std::move(*here)};
    std::vector<TraceFolder> folders;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(data, error))
        if (entry.is_directory(error))
            if (auto folder = folder_at(entry.path(), kind))
                folders.push_back(std::move(*folder));
    std::sort(folders.begin(), folders.end(), [](const auto& a, const auto& b) {
        return a.name < b.name;
    });
    return folders;
}

FolderTrace read_folder(const TraceFolder& folder) {
    const auto parts = parts_of(folder);
    std::map<std::uint32_t, std::size_t> part_of_rank;
    std::string reasons;
    FolderTrace trace;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        try {
            const TraceWorkload workload = read_traces({parts[part]});
            if (std::any_of(workload.files.begin(), workload.files.end(), [](const auto& report) {
                    return report.synthetic;
                }))
                throw ConfigError(
                    parts[part].front().string(), "",
                    "is synthetic; expected a trace of a real run");
            for (const TraceFileReport& report : workload.files) {
                if (part_of_rank.empty())
                    trace.world = std::max(1U, report.world_size);
                part_of_rank.emplace(report.rank, part);
                trace.gpu_name = report.gpu_name;
            }
            if (const auto version = nccl_version_of(workload.graph.names))
                trace.nccl_version = version;
        } catch (const ConfigError& error) {
            reasons += (reasons.empty() ? "" : "; ") + std::string(error.what());
        }
    }
    if (part_of_rank.empty())
        throw ConfigError(folder.path.string(), "", "holds no trace that can be read: " + reasons);
    if (trace.gpu_name.empty())
        throw ConfigError(folder.path.string(), "", "does not name the GPU");
    const bool all = part_of_rank.size() == trace.world && trace.world > 1;
    std::set<std::size_t> taken;
    for (const auto& [rank, part] : part_of_rank) {
        if ((all || taken.empty()) && taken.insert(part).second)
            trace.files.insert(trace.files.end(), parts[part].begin(), parts[part].end());
    }
    trace.id = all ? folder.name + "/all ranks"
                   : fmt::format("{}/rank{}", folder.name, part_of_rank.begin()->first);
    return trace;
}

ReplayedFolder replay_folder(
    const TraceFolder& folder, const FolderTrace& trace, const Machines& machines,
    const CollectivePolicy& policy, const JobProgress& progress) {
    const MachineMatch& match = machines.find({trace.gpu_name, "", trace.world, std::nullopt});
    if (!match.machine)
        throw ConfigError(folder.path.string(), "", match.why);
    ReplayedFolder replayed;
    replayed.system = match.machine->system;
    if (trace.nccl_version)
        replayed.system.collectives->nccl_version = *trace.nccl_version;
    TraceWorkloadParams workload;
    workload.kernel_times = TracedTimes::kAsTraced;
    for (const auto& file : trace.files)
        workload.files.push_back(std::filesystem::absolute(file).string());
    workload.ranks = trace.world;
    Experiment experiment;
    experiment.name = folder.name;
    experiment.system.value = replayed.system;
    experiment.workload = workload;
    experiment.scenarios = {{"as traced", true, policy}};
    replayed.prepared = prepare_workload(complete_experiment(std::move(experiment), folder.path));
    SimulateOptions options;
    options.progress = progress;
    replayed.run = simulate(replayed.system, replayed.prepared.graph, policy, options);
    return replayed;
}

SuiteResult run_folders(
    const Suite& suite, const SuiteOptions& options, const FileKind& kind,
    const CompareFolder& compare) {
    const auto data = data_of(suite, options);
    if (!data)
        return skipped(suite);
    const std::vector<TraceFolder> folders = trace_folders(*data, kind);
    if (folders.empty())
        throw ConfigError(
            data->string(), "", fmt::format("holds no trace; expected folders of {}", kind.what));
    const Machines machines(options.root);
    std::vector<Job> jobs;
    for (const TraceFolder& folder : folders)
        jobs.push_back({folder.name, [&](const JobProgress& progress) {
                            return value_bytes(compare(folder, machines, progress));
                        }});
    std::vector<JobResult> results(jobs.size());
    run_jobs(jobs, options.jobs, options.progress, [&](std::size_t job, JobResult done) {
        // Unusable traces are reported; a failing simulation is a bug.
        if (done.code != ExitCode::kDone && done.code != ExitCode::kBadInput)
            rethrow(jobs[job], done);
        results[job] = std::move(done);
    });
    SuiteResult result;
    result.name = suite.name;
    for (std::size_t i = 0; i < folders.size(); ++i) {
        if (results[i].code == ExitCode::kBadInput)
            result.unmatched.push_back({folders[i].name, results[i].error});
        else
            append(value_of_bytes<SuiteResult>(results[i].bytes), result);
    }
    return result;
}

}  // namespace switchfold::validation
