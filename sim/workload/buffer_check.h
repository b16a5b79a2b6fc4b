// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/workload/workload_context.h"
#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <string>

namespace switchfold {

/// Refuses collectives whose buffers for what is sent and received, besides `others`, exceed the
/// memory of a rank's GPU; notes it instead if the experiment ignores memory. Ranks of the
/// workload's graph count from 0. `pointer`: of the size that `expected` speaks of.
struct BufferCheck {
    std::string pointer;
    std::string size;          ///< as the file states it
    std::uint64_t others = 0;  ///< bytes beside the buffers: a kernel's operands
    std::string others_name = {};
};
void check_buffers(const BufferCheck& check, const WorkloadContext& context, PreparedWorkload& out);

/// The same for traces, from a lower bound: what the framework's allocator had handed out at its
/// peak, if the trace states it, or what the graph needs at least. `files`: of the traced ranks,
/// which repeat.
void check_traced_memory(
    const std::vector<TraceFileReport>& files, const WorkloadContext& context,
    PreparedWorkload& out);

}  // namespace switchfold
