// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace switchfold {

/// What kinds of trace this reads. Which one a file is, its content says, not its name.
enum class TraceFormat : std::uint8_t {
    kOwn,             ///< switchfold's own (docs/trace_format.md)
    kCapture,         ///< of switchfold-capture
    kKineto,          ///< PyTorch's profiler: a Chrome trace in JSON
    kExecutionTrace,  ///< PyTorch's operators without times: goes with a Kineto trace
    kNsight,          ///< Nsight Systems, exported to SQLite
    kChakra,          ///< MLCommons Chakra, protobuf
    kNcclTests,       ///< what nccl-tests print
};

/// Throws ConfigError if the file is none of them.
[[nodiscard]] TraceFormat recognise(const std::filesystem::path& file);

struct ReadOptions {
    /// One a rank, of any kinds; an execution trace stands right behind the Kineto trace that it
    /// belongs to.
    std::vector<std::filesystem::path> files;
    std::uint64_t most = kMostInflated;  ///< bytes of one file, inflated
};

/// Reads traces of any kind into one workload. Throws ConfigError: file, where in it, what was
/// expected.
[[nodiscard]] TraceWorkload read_traces(const ReadOptions& options);

}  // namespace switchfold
