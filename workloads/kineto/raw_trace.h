// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kineto/event.h"
#include "workloads/kineto/reader.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace switchfold {

enum class GpuWork : std::uint8_t { kKernel, kCommunication, kCopy };

/// A GPU event with what the CPU side says of it.
struct RawGpuEvent {
    GpuWork work = GpuWork::kKernel;
    TraceEvent event;
    std::uint64_t launch = 0;      ///< start of the launching call, ps; the event's start if there is none
    std::uint64_t launch_end = 0;
    bool has_launch = false;
    std::uint32_t launch_thread = 0;
    std::string_view launching_op;    ///< name of the operator it was launched for; may be empty
    std::string_view input_dims;
};

struct Interval {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

/// A call that may wait for the GPU.
struct SyncCall {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

struct CpuOperator {
    std::string name;
    std::string input_dims;
};

/// All of one file that the graph is made from.
struct RawTrace {
    TraceFileReport report;
    std::vector<RawGpuEvent> gpu;  ///< in launch order
    std::vector<SyncCall> syncs;
    std::vector<std::uint64_t> stream_waits;  ///< start times of cudaStreamWaitEvent, ascending
    std::vector<Interval> forward;
    std::vector<Interval> backward;
    std::vector<Interval> optimizer;
    std::vector<Interval> steps;
    std::unordered_map<std::uint64_t, CpuOperator> operators;  ///< by external id
};

[[nodiscard]] RawTrace read_raw_trace(const std::filesystem::path& file, std::uint64_t max_inflated);

/// Merges overlapping intervals; sorts.
void merge_intervals(std::vector<Interval>& intervals);
[[nodiscard]] bool covers(const std::vector<Interval>& merged, std::uint64_t time);
/// ps of [start, end) that `merged` covers.
[[nodiscard]] std::uint64_t
covered(const std::vector<Interval>& merged, std::uint64_t start, std::uint64_t end);

/// Makes a rank's graph from a raw trace; fills the counts of its report.
struct BuiltRank {
    std::shared_ptr<RankGraph> graph;
    std::vector<TraceWorkload::Measured> measured;
    Time iteration;
};
[[nodiscard]] BuiltRank build_rank(RawTrace& raw, NameTable& names, std::vector<Group>& groups);

/// Gives every kernel its isolated duration (see DurationSource).
void set_isolated_durations(RawTrace& raw, RankGraph& graph, const std::vector<std::uint32_t>& operation_of);

}  // namespace switchfold
