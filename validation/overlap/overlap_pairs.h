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
    std::uint32_t ordinal = 0;  ///< of its shape within the step
    CollectiveOperation operation;
};

/// One time that a kernel ran beside communication.
struct OverlappedRun {
    std::size_t group = 0;  ///< of OverlapTrace::groups
    std::size_t file = 0;
    std::uint64_t device = 0;
    double start_us = 0;
    double duration_us = 0;
    double baseline_us = 0;       ///< median of the same kernel's times alone, in its place
    std::size_t beside = 0;       ///< communication kernel that it shared the most time with
    std::size_t alone_runs = 0;   ///< behind the baseline
    std::uint32_t ordinal = 0;    ///< its place in the step
    std::uint32_t operation = 0;  ///< its index in its rank's graph
    KernelOperation kernel;       ///< isolated is the baseline
};

/// All runs beside communication of one kernel: same name, launch shape, operator and input
/// shapes, launched by the same thread.
struct KernelGroup {
    std::string kernel;
    std::string op;
    KernelClass kernel_class = KernelClass::kOther;
    std::vector<OverlappedRun> runs;
};

struct OverlapTrace {
    std::string gpu_name;
    std::uint32_t world_size = 1;
    std::uint32_t group_size = 1;  ///< ranks of the largest group of a collective
    std::vector<CommunicationKernelSeen> communication;
    std::vector<KernelGroup> groups;
    std::vector<std::string> warnings;
};

/// Pairs each kernel's runs beside communication with the same kernel's runs alone in the same
/// place of other steps: at least 90 %
/// of a run beside communication of any stream, none of a run alone; kernels that run equally
/// often in every step; baselines of at least 3 us. The files are one run's, one a rank. Throws
/// ConfigError as read_kineto() does.
[[nodiscard]] OverlapTrace read_overlap(const std::vector<std::filesystem::path>& files);

/// Sum of the durations over the sum of the baselines.
struct WeightedSlowdown {
    double slowdown = 0;
    double low = 0;  ///< 95 % interval by drawing kernels in their places with repetition
    double high = 0;
};
[[nodiscard]] WeightedSlowdown weighted(const std::vector<const OverlappedRun*>& runs);

}  // namespace switchfold::validation
