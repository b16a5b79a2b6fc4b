// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/profile/host_pace.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace switchfold {

/// What was read from one file, what was used, and what was dropped, with reasons.
struct TraceFileReport {
    std::string file;
    std::string format;  ///< format of the trace: "Kineto", "Nsight Systems", ...
    std::string gpu_name;
    std::uint64_t memory_bytes = 0;
    /// Most bytes that the framework's allocator had handed out and had reserved on the GPU while
    /// the trace was taken; 0 if the trace does not state it.
    std::uint64_t peak_allocated = 0;
    std::uint64_t peak_reserved = 0;
    double memory_bandwidth = 0;  ///< bytes per second; 0 if the trace does not state it
    std::uint32_t sms = 0;        ///< 0 if the trace does not state it
    std::uint32_t rank = 0;
    std::uint32_t world_size = 1;
    bool states_rank = true;  ///< false: the rank is the file's position among the given ones
    std::uint32_t steps = 0;
    std::string steps_from;  ///< which steps were taken and why; empty: the format has none
    /// Numbers of the steps' marks ("ProfilerStep#7"); -1: a step without a number.
    std::vector<std::int64_t> step_numbers;
    bool synthetic = false;  ///< no real run behind it
    /// Of these, a simulation's timeline: its durations are not those of kernels alone.
    bool simulated = false;
    std::uint64_t events = 0;
    std::map<std::string, std::uint64_t> used;
    std::map<std::string, std::uint64_t> dropped;  ///< by reason
    std::map<std::string, std::uint64_t>
        mended;  ///< contradictions that were repaired, by kind of repair
    std::uint64_t kernels = 0;
    std::uint64_t collectives = 0;
    std::uint64_t copies = 0;
    std::uint32_t streams = 0;
    HostPace host;                                   ///< all zero if the trace has no calls
    std::map<std::string, std::uint64_t> durations;  ///< kernels by DurationSource
    std::map<std::string, std::uint64_t> bytes;      ///< kernels by ByteSource
    std::map<std::string, std::uint64_t> sizes;      ///< collectives by SizeSource
    std::map<std::string, std::uint64_t>
        algorithms;  ///< collectives by the algorithm that the trace states
    std::vector<std::string> warnings;
};

/// Traces as an execution graph, with a report on each file.
struct TraceWorkload {
    ExecutionGraph graph;
    std::vector<TraceFileReport> files;  ///< one per rank of the graph, in its order
    /// Measured times of each operation: [rank graph][operation], ps since the first event of its
    /// file. Host operations have zero times.
    struct Measured {
        Time start;
        Time end;
        bool operator==(const Measured&) const = default;
    };
    std::vector<BigVector<Measured>> measured;
};

/// Counts a rank's streams and operations, and the sources of their numbers, in its report.
void count_operations(const RankGraph& rank, TraceFileReport& report);

/// Joins ranks that were read one by one, in ascending order. Throws ConfigError if a rank occurs
/// twice or the files hold different numbers of steps.
[[nodiscard]] TraceWorkload join_ranks(std::vector<TraceWorkload> parts);

}  // namespace switchfold
