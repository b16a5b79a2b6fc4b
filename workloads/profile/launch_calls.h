// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/big_vector.h"
#include "workloads/profile/event.h"
#include "workloads/profile/event_kind.h"
#include "workloads/profile/gpu_event.h"
#include "workloads/profile/string_interner.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// A runtime or driver call that issued work to the GPU.
struct LaunchCall {
    std::uint64_t correlation = 0;
    std::uint64_t start = 0;  ///< ps
    std::uint64_t end = 0;
    std::uint64_t external_id = 0;  ///< CpuOperator::kNoId if none
    std::uint32_t thread = 0;
    std::uint32_t shape = 0;  ///< index of the launch shape that the call states, if any
    bool of_graph = false;    ///< launches all operations of a CUDA graph
    bool launches_kernel = false;
    bool joined = false;  ///< the trace holds what it launched
};

/// The calls of a trace, by correlation id.
class LaunchCalls {
public:
    /// `launches_kernel`: exactly one kernel.
    void add(const TraceEvent& call, std::uint32_t thread, CallKind kind, bool launches_kernel);
    /// Call after the last add() and before find().
    void sort();
    /// The last call with this correlation id, from now on joined; null if there is none.
    [[nodiscard]] const LaunchCall* join(std::uint64_t correlation);
    /// Start times of the calls that launched a kernel and were not joined, ascending.
    [[nodiscard]] std::vector<std::uint64_t> lost() const;
    /// For passes that ask for one call after another; see BigVector.
    void forget_at(std::size_t asked) const { calls_.forget_at(asked); }
    /// The task, completed with the launch shape that only the call states: AMD's profiler may
    /// record it there.
    [[nodiscard]] GpuTask shaped(GpuTask task, const LaunchCall& call) const;

private:
    struct Shape {
        Dim3 grid = kUnknownShape;
        Dim3 block = kUnknownShape;
        std::uint64_t shared_memory = 0;
        bool in_threads = false;
        [[nodiscard]] std::array<std::uint64_t, 8> parts() const {
            return {grid.x,  grid.y,  grid.z,        block.x,
                    block.y, block.z, shared_memory, in_threads ? 1U : 0U};
        }
    };
    BigVector<LaunchCall> calls_;
    Distinct<Shape> shapes_;
};

}  // namespace switchfold
