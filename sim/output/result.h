// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/memory_record.h"
#include "core/record.h"
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

    static constexpr auto fields() {
        using R = KernelClassResult;
        return list_of(
            member("class", &R::kernel_class), member("kernels", &R::kernels),
            member("isolated_us", &R::isolated_us, Form::kMicro),
            member("slowdown", &R::slowdown, Form::kMicro),
            member("slowdown_by_cause", &R::causes));
    }
};

/// The kernels of one name that lost most time, over forward, backward and optimizer.
struct WorstKernelResult {
    std::string name;
    std::string kernel_class;
    std::uint64_t kernels = 0;  ///< over all ranks and steps
    double isolated_us = 0;     ///< sum of their isolated times, per rank and step
    double lost_us = 0;         ///< time beyond that

    static constexpr auto fields() {
        using R = WorstKernelResult;
        return list_of(
            member("name", &R::name), member("class", &R::kernel_class),
            member("kernels", &R::kernels), member("isolated_us", &R::isolated_us, Form::kMicro),
            member("lost_us", &R::lost_us, Form::kMicro));
    }
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

    static constexpr auto fields() {
        using R = CollectiveResult;
        return list_of(
            member("name", &R::name), member("algorithm", &R::algorithm).as_column("ran_algorithm"),
            member("protocol", &R::protocol).as_column("ran_protocol"),
            member("fallback", &R::fallback).or_null().as_column("fallback"),
            member("channels", &R::channels).as_column("ran_channels"),
            member("ranks", &R::ranks).as_column("ran_ranks"),
            member("size_bytes", &R::size_bytes).as_column("size_bytes"),
            member("start_us", &R::start_us, Form::kMicro),
            member("ready_us", &R::ready_us, Form::kMicro),
            member("time_us", &R::time_us, Form::kMicro).as_column("time_us"),
            member("algorithm_bandwidth_GBps", &R::algorithm_bandwidth_GBps, Form::kMicro)
                .as_column("algorithm_bandwidth_GBps"),
            member("bus_bandwidth_GBps", &R::bus_bandwidth_GBps, Form::kMicro)
                .as_column("bus_bandwidth_GBps"),
            member("intervals", &R::intervals, Form::kMicro).if_any());
    }
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

    static constexpr auto fields() {
        using R = PeakMemoryResult;
        return list_of(
            member("rank", &R::rank), member("time_us", &R::time_us, Form::kMicro),
            member("pass", &R::pass), member("bytes", &R::bytes));
    }
};

/// One value of a counter track of the timeline.
struct CounterSample {
    std::string track;
    double time_us = 0;
    double value = 0;

    static constexpr auto fields() {
        using R = CounterSample;
        return list_of(
            member("track", &R::track), member("time_us", &R::time_us), member("value", &R::value));
    }
};

/// A scenario's results if no rank were late.
struct TogetherResult {
    double iteration_us = 0;
    double exposed_communication_us = 0;
    std::optional<double> backward_slowdown;

    static constexpr auto fields() {
        using R = TogetherResult;
        return list_of(
            member("iteration_us", &R::iteration_us, Form::kMicro),
            member("exposed_communication_us", &R::exposed_communication_us, Form::kMicro),
            member("backward_slowdown", &R::backward_slowdown, Form::kMicro));
    }
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

    static constexpr auto fields() {
        using R = WorkloadResult;
        return list_of(
            member("type", &R::type), member("source", &R::source),
            member("synthetic", &R::synthetic), member("ranks", &R::ranks),
            member("traced_ranks", &R::traced_ranks), member("steps", &R::steps),
            member("measured_iteration_us", &R::measured_iteration_us, Form::kMicro),
            member("events_used", &R::used), member("events_dropped", &R::dropped),
            member("kernel_durations", &R::duration_sources),
            member("kernel_bytes", &R::byte_sources), member("collective_sizes", &R::size_sources),
            member("notes", &R::notes));
    }
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

    static constexpr auto fields() {
        using R = HostResult;
        return list_of(
            member("wall_s", &R::wall_s, Form::kMilli),
            member("peak_rss_bytes", &R::peak_rss_bytes), member("events", &R::events));
    }
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
