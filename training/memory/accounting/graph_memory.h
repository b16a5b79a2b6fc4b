// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <string>

namespace switchfold {

/// Bytes of a collective's buffers on a rank of a group of `ranks`: what it sends and what it
/// receives. In place: the larger of the two, where the kind allows one buffer for both.
[[nodiscard]] std::uint64_t collective_buffers(
    const ExecutionGraph& graph, const CollectiveOperation& collective, bool in_place);

/// Memory that a rank needs at least, and what needs it.
struct LeastMemory {
    std::uint64_t bytes = 0;
    std::string what;
};

/// A lower bound from what a rank's graph states: the largest of
/// - the buffers of one collective, message or copy,
/// - the operands of one kernel, where shapes tell them,
/// - gradients that are all-reduced in the backward pass of one step: they are there together
///   until the step's optimizer reads them. Groups that also communicate in the forward pass carry
///   activations, and a sequence of sizes that repeats is counted once: micro-batches reduce the
///   same gradients again.
[[nodiscard]] LeastMemory least_memory(const ExecutionGraph& graph, const RankGraph& rank);
/// What the framework's allocator had handed out, if the trace states more than that.
[[nodiscard]] LeastMemory with_allocations(LeastMemory least, const TraceFileReport& file);

}  // namespace switchfold
