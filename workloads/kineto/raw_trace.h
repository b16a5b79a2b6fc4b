// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/execution_trace/execution_trace.h"
#include "workloads/kineto/event.h"
#include "workloads/kineto/reader.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace switchfold {

enum class GpuWork : std::uint8_t { kKernel, kCommunication, kCopy };

/// A GPU event with what the CPU side says of it. The views point into RawTrace::texts.
struct RawGpuEvent {
    GpuWork work = GpuWork::kKernel;
    TraceEvent event;
    std::uint64_t launch = 0;  ///< start of the launching call, ps; never after the event's start
    std::uint64_t launch_end = 0;
    bool has_launch = false;
    std::uint32_t launch_thread = 0;
    std::string_view launching_op;  ///< innermost operator that it was launched for; may be empty
    std::string_view input_dims;
    std::string_view input_types;
    std::uint32_t stride = 1;    ///< of a convolution
    const void* call = nullptr;  ///< the same for all that one call of the operator launched
    /// What c10d calls the collective ("nccl:all_reduce") and its tensors, where recorded.
    std::string_view collective;
    std::string_view collective_dims;
    std::string_view collective_types;
};

struct Interval {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

/// A call that makes a stream wait for an event.
struct StreamWait {
    std::uint64_t start = 0;
    std::uint32_t thread = 0;
    /// Part of issuing a collective: it makes the collective's stream wait, not the caller's.
    bool issues_collective = false;
};

/// An operator or annotation on a CPU thread. The texts live in RawTrace::texts.
struct CpuOperator {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t thread = 0;
    std::string_view name;
    std::string_view input_dims;
    std::string_view input_types;
    std::uint32_t stride = 1;  ///< of a convolution
    std::optional<std::uint64_t> external_id;
};

/// All of one file that the graph is made from.
struct RawTrace {
    TraceFileReport report;
    std::vector<RawGpuEvent> gpu;         ///< in launch order, which is start order on each stream
    std::vector<Interval> syncs;          ///< calls that may wait for the GPU, by start
    std::vector<StreamWait> waits;        ///< by thread, then start
    std::vector<Interval> forward;        ///< merged
    std::vector<Interval> backward;       ///< merged
    std::vector<Interval> optimizer;      ///< merged
    std::vector<Interval> steps;          ///< by start
    std::vector<Interval> communication;  ///< when any communication kernel ran, merged
    /// When each stream got through with what was launched before the trace began.
    std::map<std::string, std::uint64_t, std::less<>> busy_before;
    std::unordered_set<std::string> texts;
};

/// Reads a file. Operators that have no shapes get them from `shapes`, if there are any: the
/// execution trace of the same run. Throws ConfigError.
[[nodiscard]] RawTrace read_raw_trace(
    const std::filesystem::path& file,
    std::uint64_t max_inflated,
    const ExecutionTrace* shapes = nullptr);

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

/// The workload of one rank from its raw trace.
[[nodiscard]] TraceWorkload workload_of(RawTrace raw);

/// What makes two runs the same kernel: name, launch geometry, resources and the operator that
/// launched it with its shapes and thread.
[[nodiscard]] std::string identity_of(const RawGpuEvent& gpu);

/// Gives every kernel its isolated duration (see DurationSource).
void set_isolated_durations(
    const RawTrace& raw, RankGraph& graph, const std::vector<std::uint32_t>& operation_of);

}  // namespace switchfold
