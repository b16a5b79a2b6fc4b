// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/memory_classes.h"
#include "core/statistics.h"
#include "sim/output/changes_result.h"
#include "sim/output/learning_result.h"
#include "sim/output/scenario_figures.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// Slowdown of the backward pass's kernels of one class.
struct KernelClassResult {
    std::string kernel_class;
    std::uint64_t kernels = 0;  ///< over all ranks and steps
    double isolated_us = 0;     ///< sum of their isolated times, per rank and step
    double slowdown = 0;        ///< ratio of their time to their isolated time
    std::optional<SlowdownByCause> causes;
};

/// The kernels of one name that lost most time, over forward, backward and optimizer.
struct WorstKernelResult {
    std::string name;
    std::string kernel_class;
    std::uint64_t kernels = 0;  ///< over all ranks and steps
    double isolated_us = 0;     ///< sum of their isolated times, per rank and step
    double lost_us = 0;         ///< time beyond that
};

struct CollectiveResult {
    std::string name;
    std::string algorithm;
    std::string protocol;
    std::uint32_t channels = 0;
    std::uint32_t ranks = 0;
    std::uint64_t size_bytes = 0;
    double start_us = 0;
    double ready_us = 0;  ///< arrival of the last rank
    double time_us = 0;   ///< from ready_us to the end
    double algorithm_bandwidth_GBps = 0;
    double bus_bandwidth_GBps = 0;
    std::string fallback;            ///< reason why it did not run as requested; empty if it did
    FigureIntervals intervals = {};  ///< of time_us and both bandwidths; for workloads of few
};

struct KernelRow {
    std::uint32_t rank = 0;
    std::string_view stream;
    std::string_view name;
    std::string_view kernel_class;
    std::string_view phase;
    double start_us = 0;
    double duration_us = 0;
    double isolated_us = 0;
    double overlapped_share = 0;
    std::uint64_t bytes_read = 0;  ///< from L2 and beyond
    std::uint64_t bytes_written = 0;
    double flops = 0;
};

/// A pass of a pipeline: a rank's work for one micro-batch on one stage.
struct PassRow {
    std::uint32_t rank = 0;
    std::string_view pass;  ///< in the notation of schedule files, for example "F3@1"
    std::string_view phase;
    double start_us = 0;
    double duration_us = 0;
};

/// Memory that a rank holds from a time on.
struct MemoryRow {
    std::uint32_t rank = 0;
    double time_us = 0;
    MemoryBytes bytes;
};

/// The rank with the highest peak, at the first time it is reached.
struct PeakMemoryResult {
    std::uint32_t rank = 0;
    double time_us = 0;
    std::string pass;  ///< pass or concurrent passes at that time; empty if none
    MemoryBytes bytes;
};

/// One value of a counter track of the timeline.
struct CounterSample {
    std::string track;
    double time_us = 0;
    double value = 0;
};

/// A scenario's results if no rank were late.
struct TogetherResult {
    double iteration_us = 0;
    double exposed_communication_us = 0;
    std::optional<double> backward_slowdown;
};

/// The workload and its sources.
struct WorkloadResult {
    std::string type;
    std::string source;
    bool synthetic = false;
    std::uint32_t ranks = 0;
    std::uint32_t traced_ranks = 0;
    std::uint32_t steps = 1;
    std::optional<double> measured_iteration_us;
    std::map<std::string, std::uint64_t> used;
    std::map<std::string, std::uint64_t> dropped;
    std::map<std::string, std::uint64_t> duration_sources;
    std::map<std::string, std::uint64_t> byte_sources;
    std::map<std::string, std::uint64_t> size_sources;
    std::vector<std::string> notes;
    bool operator==(const WorkloadResult&) const = default;
};

struct ScenarioResult : ScenarioFigures {
    std::map<std::string, std::string> set;  ///< JSON by pointer, for the parameters that it sets
    std::optional<WorkloadResult> workload;  ///< if it differs from that of the first scenario
    std::optional<PeakMemoryResult> peak_memory;  ///< none without a plan
    std::optional<TogetherResult> together;       ///< none unless untraced ranks are late
    std::vector<KernelClassResult> kernel_classes;
    std::vector<WorstKernelResult> worst_kernels;  ///< most time lost first
    std::vector<CollectiveResult> collectives;
    std::vector<StatisticTable> statistics;  ///< the same kinds in every scenario
    std::vector<std::string> notes;
    std::vector<CounterSample> counters;
    std::optional<LearningResult> learning;
    std::optional<ChangesResult> changes;  ///< none without a run over many steps
};

struct HostResult {
    double wall_s = 0;
    std::uint64_t peak_rss_bytes = 0;
    std::uint64_t events = 0;
};

/// Changes whenever a field of result.json changes its meaning or is removed.
inline constexpr const char* kResultSchema = "switchfold-result-1";

struct ExperimentResult {
    std::string experiment;
    std::string version;
    std::string config_digest;
    std::string effective_config;  ///< JSON text
    WorkloadResult workload;       ///< of the first scenario
    std::vector<ScenarioResult> scenarios;
    HostResult host;
};

}  // namespace switchfold
