// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/profile/texts.h"

#include <array>
#include <cstdint>

namespace switchfold {

/// Of a launch whose shape the trace does not say.
inline constexpr Dim3 kUnknownShape{0, 0, 0};

enum class GpuWork : std::uint8_t { kKernel, kCommunication, kCopy };

/// What launches of the same kernel have in common.
struct GpuTask {
    Texts::Id name = 0;
    std::uint32_t registers_per_thread = 0;
    Dim3 grid = kUnknownShape;
    Dim3 block = kUnknownShape;
    std::uint64_t shared_memory = 0;
    [[nodiscard]] std::array<std::uint64_t, 6> parts() const {
        const auto pair = [](std::uint64_t high, std::uint64_t low) { return high << 32U | low; };
        return {
            pair(name, registers_per_thread),
            pair(grid.x, grid.y),
            grid.z,
            pair(block.x, block.y),
            block.z,
            shared_memory};
    }
    bool operator==(const GpuTask&) const = default;
};

/// What calls of the same operator with the same tensors have in common.
struct OperatorKind {
    Texts::Id name = 0;
    Texts::Id input_dims = 0;   ///< raw JSON
    Texts::Id input_types = 0;  ///< raw JSON
    std::uint32_t stride = 1;   ///< of a convolution
    // Of a call that issues a collective:
    Texts::Id group_name = 0;
    Texts::Id group_ranks = 0;  ///< "[0, 1]"
    std::uint32_t group_size = 0;
    [[nodiscard]] std::array<std::uint64_t, 6> parts() const {
        return {
            name,
            input_dims,
            input_types,
            stride,
            std::uint64_t{group_name} << 32U | group_ranks,
            group_size};
    }
};

/// What a trace says of one run of a communication kernel beside its times.
struct CollectiveDetails {
    Texts::Id name = 0;  ///< the kernel's own "Collective name"
    Texts::Id datatype = 0;
    Texts::Id group_name = 0;
    Texts::Id group_ranks = 0;  ///< "[0, 1]"
    Texts::Id algorithm = 0;
    Texts::Id protocol = 0;
    std::uint64_t in_elements = 0;
    std::uint64_t out_elements = 0;
    std::uint64_t group_size = 0;
    /// What c10d calls it ("nccl:all_reduce") and its tensors, where recorded.
    Texts::Id call = 0;
    Texts::Id call_dims = 0;
    Texts::Id call_types = 0;
};

/// What hardware counters saw of one run of a kernel.
struct CountedTraffic {
    std::uint64_t read = 0;  ///< bytes
    std::uint64_t written = 0;
};

/// A GPU event with what the CPU side says of it. There is one for each operation, so it holds
/// numbers alone: what they stand for, RawTrace knows.
struct RawGpuEvent {
    static constexpr std::uint32_t kNone = UINT32_MAX;

    std::uint64_t start = 0;  ///< ps
    std::uint64_t duration = 0;
    std::uint64_t launch = 0;  ///< start of the launching call, ps; never after the event's start
    std::uint64_t launch_end = 0;
    std::uint64_t bytes = 0;  ///< of a copy
    std::uint32_t task = 0;   ///< of RawTrace::tasks
    std::uint32_t stream = 0;
    std::uint32_t launch_thread = 0;
    std::uint32_t call = kNone;  ///< of the operator that it was launched for: which of its calls
    std::uint32_t op = kNone;    ///< that innermost operator, of RawTrace::operator_kinds
    std::uint32_t details = kNone;  ///< of RawTrace::collectives, or of counted if it computes
    GpuWork work = GpuWork::kKernel;
    bool has_launch = false;

    [[nodiscard]] std::uint64_t end() const { return start + duration; }
};

struct RawStream {
    Texts::Id name = 0;
    std::uint64_t device = 0;
};

}  // namespace switchfold
