// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace switchfold {

/// Supported kinds of trace. The kind is recognised from a file's content, not from its name.
enum class TraceFormat : std::uint8_t {
    kOwn,             ///< switchfold's own (docs/traces.md#our-own-format)
    kCapture,         ///< of switchfold-capture
    kKineto,          ///< PyTorch's profiler: a Chrome trace in JSON
    kExecutionTrace,  ///< PyTorch's operators without times: goes with a Kineto trace
    kNsight,          ///< Nsight Systems, exported to SQLite
    kChakra,          ///< MLCommons Chakra, protobuf
    kChakraGroups,    ///< which ranks its process groups hold, JSON: goes with Chakra traces
    kNcclTests,       ///< output of nccl-tests
    kNcclTestsJson,   ///< results of nccl-tests or rccl-tests as JSON
    kNcclInspector,   ///< lines of NCCL's Inspector
    kFlightRecorder,  ///< dump of PyTorch's flight recorder as JSON
    kRocprof,         ///< rocprofv3, JSON
};

/// Whether a file of the format may not say which rank it is of, so that all of a run are read
/// together.
[[nodiscard]] bool may_lack_rank(TraceFormat format);

/// Throws ConfigError if the format is not supported; it names the tool if that is known.
[[nodiscard]] TraceFormat recognise(const std::filesystem::path& file);

struct ReadOptions {
    /// One per rank, of any kinds; an execution trace directly follows the Kineto trace that it
    /// belongs to.
    std::vector<std::filesystem::path> files;
    std::uint64_t most = kMostInflated;  ///< limit on one file's inflated bytes
};

/// Reads traces of any kind into one workload. Throws ConfigError (file, position, what was
/// expected).
[[nodiscard]] TraceWorkload read_traces(const ReadOptions& options);

}  // namespace switchfold
