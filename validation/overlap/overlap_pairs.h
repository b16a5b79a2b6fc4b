// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/readers/kineto/reader.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold::validation {

/// A communication kernel of a trace.
struct CommunicationKernelSeen {
    std::size_t file = 0;
    std::uint64_t device = 0;
    double start_us = 0;  ///< on the file's clock
    double end_us = 0;
    std::uint32_t step = 0;
    std::uint32_t ordinal = 0;  ///< among kernels of its shape within the step
    CollectiveOperation operation;
};

/// One run of a kernel beside communication.
struct OverlappedRun {
    std::size_t group = 0;  ///< index into OverlapTrace::groups
    std::size_t file = 0;
    std::uint64_t device = 0;
    double start_us = 0;
    double duration_us = 0;
    double baseline_us =
        0;  ///< median of the same kernel's runs alone, at the same place of other steps
    std::size_t beside = 0;       ///< index of the communication kernel with the longest overlap
    std::size_t alone_runs = 0;   ///< number of runs in the baseline
    std::uint32_t ordinal = 0;    ///< its place in the step
    std::uint32_t operation = 0;  ///< its index in its rank's graph
    KernelOperation kernel;       ///< with the baseline as isolated time
};

/// All runs of one kernel beside communication: equal name, launch shape, operator, input shapes
/// and launching thread.
struct KernelGroup {
    std::string kernel;
    std::string op;
    KernelClass kernel_class = KernelClass::kOther;
    std::vector<OverlappedRun> runs;
};

struct OverlapTrace {
    std::string gpu_name;
    std::uint32_t group_size = 1;  ///< ranks of the largest group of any collective
    std::vector<CommunicationKernelSeen> communication;
    std::vector<KernelGroup> groups;
};

/// Pairs each kernel's runs beside communication with its runs alone at the same place of other
/// steps. A run beside communication overlaps it (on any stream) for at least 90 % of its time, a
/// run alone not at all. Considers only kernels that run equally often in every step, with
/// baselines of at least 3 us. The files are from one run, one per rank. Throws ConfigError as
/// read_kineto() does.
[[nodiscard]] OverlapTrace read_overlap(const std::vector<std::filesystem::path>& files);

/// Ratio of the sum of durations to the sum of baselines.
struct WeightedSlowdown {
    double slowdown = 0;
    double low = 0;  ///< 95 % interval by bootstrap over kernels at their places
    double high = 0;
};
[[nodiscard]] WeightedSlowdown weighted(const std::vector<const OverlappedRun*>& runs);

}  // namespace switchfold::validation
