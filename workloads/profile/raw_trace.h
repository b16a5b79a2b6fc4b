// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/big_vector.h"
#include "workloads/profile/gpu_event.h"
#include "workloads/profile/intervals.h"
#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// A call that makes a stream wait for an event.
struct StreamWait {
    std::uint64_t start = 0;
    std::uint32_t thread = 0;
    /// Whether it belongs to issuing a collective: then the collective's stream waits, not the
    /// caller's.
    bool issues_collective = false;
};

/// An operator call or annotation on a CPU thread.
struct CpuOperator {
    static constexpr std::uint64_t kNoId = UINT64_MAX;

    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t external_id = kNoId;
    std::uint32_t thread = 0;
    std::uint32_t kind = 0;      ///< index into RawTrace::operator_kinds
    std::uint32_t sequence = 0;  ///< 1 + PyTorch's sequence number; 0: none
};

/// A step of the recording on its host's clock.
struct RawStep {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::int64_t number = -1;  ///< as the mark states it ("ProfilerStep#7"); -1: it states none
    bool marked = false;       ///< the host said when it began
};

/// A call of an optimizer's step.
struct RawUpdate {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    StringInterner::Id name = 0;  ///< "Optimizer.step#AdamW.step"
};

/// Limits of the GPU and its SMs; 0 where the trace does not state one.
struct GpuLimits {
    std::uint32_t compute_major = 0;  ///< of the compute capability
    std::uint64_t threads = 0;        ///< of an SM, as the others
    std::uint64_t registers = 0;
    std::uint64_t shared_memory = 0;  ///< bytes
};

/// Everything from one file that the graph is built from.
struct RawTrace {
    TraceFileReport report;
    GpuLimits limits;
    BigVector<RawGpuEvent> gpu;      ///< in launch order, which is start order on each stream
    BigVector<Interval> syncs;       ///< calls that may wait for the GPU, by start
    BigVector<StreamWait> waits;     ///< by thread, then start
    BigVector<Interval> forward;     ///< merged
    BigVector<Interval> backward;    ///< merged
    BigVector<Interval> optimizer;   ///< merged
    std::vector<RawUpdate> updates;  ///< calls of an optimizer's step, by start
    std::vector<RawStep> steps;      ///< by start
    /// Launches of kernels that the trace does not hold, by time.
    std::vector<std::uint64_t> lost_launches;
    BigVector<Interval> communication;  ///< times when any communication kernel ran, merged
    /// End of the work that was launched on each stream before the trace began, ps.
    std::map<std::uint32_t, std::uint64_t> busy_before;
    std::vector<RawStream> streams;
    BigVector<CollectiveDetails> collectives;
    BigVector<CountedTraffic> counted;
    std::vector<RawMessage> messages;
    /// Ranks of process groups that the trace lists apart from calls, by name.
    std::map<std::string, std::vector<std::uint32_t>> groups;
    Distinct<GpuTask> tasks;
    Distinct<CommunicationCall> calls;
    Distinct<OperatorKind> operator_kinds;
    StringInterner texts;

    [[nodiscard]] std::string_view name_of(const RawGpuEvent& event) const {
        return texts[tasks[event.task].name];
    }
    /// Name of the operator that launched the event; empty if there is none.
    [[nodiscard]] std::string_view operator_of(const RawGpuEvent& event) const {
        return event.op == RawGpuEvent::kNone ? std::string_view()
                                              : texts[operator_kinds[event.op].name];
    }
};

/// Result of building a rank's graph from a raw trace; also fills the counts of its report. Groups
/// and exchanges are added to `graph`.
struct BuiltRank {
    std::shared_ptr<RankGraph> graph;
    BigVector<TraceWorkload::Measured> measured;
    Time iteration;
};
[[nodiscard]] BuiltRank build_rank(RawTrace& raw, NameTable& names, ExecutionGraph& graph);

/// Builds the workload of one rank from its raw trace.
[[nodiscard]] TraceWorkload workload_of(RawTrace raw);

/// Text that is equal for runs of the same kernel, also across ranks: name, launch geometry,
/// resources, and the launching operator with its shapes and thread.
[[nodiscard]] std::string identity_of(const RawTrace& raw, const RawGpuEvent& gpu);

/// Sets every kernel's isolated duration (see DurationSource).
void set_isolated_durations(
    const RawTrace& raw, RankGraph& graph, const BigVector<std::uint32_t>& operation_of);

}  // namespace switchfold
