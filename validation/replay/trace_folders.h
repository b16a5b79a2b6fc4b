// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/simulate.h"
#include "sim/pool/progress.h"
#include "sim/workload/workload.h"
#include "validation/harness/suite.h"
#include "validation/machines/machines.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// A folder with the trace files of one run.
struct TraceFolder {
    std::string name;
    std::filesystem::path path;
    std::vector<std::filesystem::path> files;  ///< sorted
};

/// The files of a folder that a suite reads.
struct FileKind {
    bool (*takes)(const std::filesystem::path& file);
    std::string_view what;  ///< used in the message that there is none
};
/// Whether a file's name ends in .json or .json.gz.
[[nodiscard]] bool may_be_kineto(const std::filesystem::path& file);
/// Whether read_traces() knows the file's format, or its name is that of a Kineto trace.
[[nodiscard]] bool may_be_trace(const std::filesystem::path& file);
inline constexpr FileKind kKinetoFiles{may_be_kineto, "Kineto traces (.json, .json.gz)"};
inline constexpr FileKind kTraceFiles{may_be_trace, "traces of any format that `trace` reads"};

/// The folders below `data` that contain such files, sorted by name; includes `data` itself.
[[nodiscard]] std::vector<TraceFolder>
trace_folders(const std::filesystem::path& data, const FileKind& kind);

/// The traces of a folder that are used together.
struct FolderTrace {
    std::string id;                            ///< FOLDER/rank3 or FOLDER/all ranks
    std::vector<std::filesystem::path> files;  ///< of all ranks, or of the lowest available rank
    std::string gpu_name;
    std::uint32_t world = 1;
    /// Of NCCL, as in CollectiveParams, if its kernels' arguments tell that it is an old one.
    std::optional<std::uint32_t> nccl_version;
};

/// Reads the folder's traces. Throws ConfigError with a reason per file if none can be read.
[[nodiscard]] FolderTrace read_folder(const TraceFolder& folder);

/// The traces as they are replayed on their own machine, as far as it is known.
struct ReplayedFolder {
    SystemParams system;
    PreparedWorkload prepared;  ///< as `run` makes it of the traces
    Outcome run;

    /// Of the simulation.
    [[nodiscard]] double iteration_us() const {
        return to_microseconds(Time(run.end_ps)) / prepared.graph.steps;
    }
};
/// Simulates the traced schedule. Throws ConfigError if there is no such machine.
[[nodiscard]] ReplayedFolder replay_folder(
    const TraceFolder& folder, const FolderTrace& trace, const Machines& machines,
    const CollectivePolicy& policy, const JobProgress& progress);

/// Compares one folder. Throws ConfigError if its traces cannot be used.
using CompareFolder = std::function<SuiteResult(
    const TraceFolder& folder, const Machines& machines, const JobProgress& progress)>;

/// Runs a suite over the folders of its data, one job per folder, and returns the results of
/// `compare` in folder order. A folder whose traces cannot be used is unmatched, with the reason;
/// other errors are thrown. Throws ConfigError if no folder contains a trace.
[[nodiscard]] SuiteResult run_folders(
    const Suite& suite, const SuiteOptions& options, const FileKind& kind,
    const CompareFolder& compare);

}  // namespace switchfold::validation
