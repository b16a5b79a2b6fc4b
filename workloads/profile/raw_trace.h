// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/big_vector.h"
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
    /// Part of issuing a collective: it makes the collective's stream wait, not the caller's.
    bool issues_collective = false;
};

/// A call of an operator, or an annotation, on a CPU thread.
struct CpuOperator {
    static constexpr std::uint64_t kNoId = UINT64_MAX;

    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t external_id = kNoId;
    std::uint32_t thread = 0;
    std::uint32_t kind = 0;  ///< of RawTrace::operator_kinds
};

/// All of one file that the graph is made from.
struct RawTrace {
    TraceFileReport report;
    BigVector<RawGpuEvent> gpu;         ///< in launch order, which is start order on each stream
    BigVector<Interval> syncs;          ///< calls that may wait for the GPU, by start
    BigVector<StreamWait> waits;        ///< by thread, then start
    BigVector<Interval> forward;        ///< merged
    BigVector<Interval> backward;       ///< merged
    BigVector<Interval> optimizer;      ///< merged
    BigVector<Interval> steps;          ///< by start
    BigVector<Interval> communication;  ///< when any communication kernel ran, merged
    /// When each stream got through with what was launched before the trace began.
    std::map<std::uint32_t, std::uint64_t> busy_before;
    std::vector<RawStream> streams;
    BigVector<CollectiveDetails> collectives;
    BigVector<CountedTraffic> counted;
    Distinct<GpuTask> tasks;
    Distinct<OperatorKind> operator_kinds;
    Texts texts;

    [[nodiscard]] std::string_view name_of(const RawGpuEvent& event) const {
        return texts[tasks[event.task].name];
    }
    /// Of the operator that the event was launched for; empty if there is none.
    [[nodiscard]] std::string_view operator_of(const RawGpuEvent& event) const {
        return event.op == RawGpuEvent::kNone ? std::string_view()
                                              : texts[operator_kinds[event.op].name];
    }
};

/// Makes a rank's graph from a raw trace; fills the counts of its report.
struct BuiltRank {
    std::shared_ptr<RankGraph> graph;
    BigVector<TraceWorkload::Measured> measured;
    Time iteration;
};
[[nodiscard]] BuiltRank build_rank(RawTrace& raw, NameTable& names, std::vector<Group>& groups);

/// The workload of one rank from its raw trace.
[[nodiscard]] TraceWorkload workload_of(RawTrace raw);

/// What makes two runs the same kernel, also in traces of several ranks: name, launch geometry,
/// resources and the operator that launched it with its shapes and thread.
[[nodiscard]] std::string identity_of(const RawTrace& raw, const RawGpuEvent& gpu);

/// Gives every kernel its isolated duration (see DurationSource).
void set_isolated_durations(
    const RawTrace& raw, RankGraph& graph, const BigVector<std::uint32_t>& operation_of);

}  // namespace switchfold
