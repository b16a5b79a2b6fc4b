// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/big_vector.h"
#include "workloads/profile/event.h"
#include "workloads/profile/gpu_event.h"
#include "workloads/profile/texts.h"

#include <cstdint>

namespace switchfold {

/// A runtime or driver call that put something on the GPU.
struct LaunchCall {
    std::uint64_t correlation = 0;
    std::uint64_t start = 0;  ///< ps
    std::uint64_t end = 0;
    std::uint64_t external_id = 0;  ///< or CpuOperator::kNoId
    std::uint32_t thread = 0;
    std::uint32_t shape = 0;  ///< what the call says of its kernel, where it says it
};

/// The calls of a trace by their correlation.
class LaunchCalls {
public:
    /// `in_threads`: the call's grid counts threads, not blocks.
    void add(const TraceEvent& call, std::uint32_t thread, bool in_threads);
    /// After the last, before find().
    void sort();
    /// The last call with that number; null if there is none.
    [[nodiscard]] const LaunchCall* find(std::uint64_t correlation) const;
    /// In a pass that asks for one after the other: see BigVector.
    void forget_at(std::size_t asked) const { calls_.forget_at(asked); }
    /// The task with what the call alone says of it: AMD's profiler may leave the shape there.
    [[nodiscard]] GpuTask shaped(GpuTask task, const LaunchCall& call) const;

private:
    struct Shape {
        Dim3 grid = kUnknownShape;
        Dim3 block = kUnknownShape;
        std::uint64_t shared_memory = 0;
        bool in_threads = false;
        [[nodiscard]] std::array<std::uint64_t, 8> parts() const {
            return {
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                shared_memory,
                in_threads ? 1U : 0U};
        }
    };
    BigVector<LaunchCall> calls_;
    Distinct<Shape> shapes_;
};

}  // namespace switchfold
