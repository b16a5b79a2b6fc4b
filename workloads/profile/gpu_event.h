// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/profile/string_interner.h"

#include <array>
#include <cstdint>

namespace switchfold {

/// Grid or block of a launch whose shape the trace does not state.
inline constexpr Dim3 kUnknownShape{0, 0, 0};

enum class GpuWork : std::uint8_t { kKernel, kCommunication, kCopy };

/// Properties that all launches of the same kernel share.
struct GpuTask {
    StringInterner::Id name = 0;
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

inline constexpr std::uint32_t kNoRank = UINT32_MAX;

/// What an operator states about the communication that it issues.
struct CommunicationCall {
    StringInterner::Id name = 0;  ///< "send", "all_to_allv"
    StringInterner::Id datatype = 0;
    StringInterner::Id in_splits = 0;  ///< "[6, 2]"
    StringInterner::Id out_splits = 0;
    std::uint64_t in_elements = 0;
    std::uint64_t out_elements = 0;
    std::uint32_t to_rank = kNoRank;  ///< of a send: the global rank that receives
    std::uint32_t from_rank = kNoRank;
    [[nodiscard]] std::array<std::uint64_t, 5> parts() const {
        const auto pair = [](std::uint64_t high, std::uint64_t low) { return high << 32U | low; };
        return {
            pair(name, datatype), pair(in_splits, out_splits), in_elements, out_elements,
            pair(to_rank, from_rank)};
    }
};

/// Properties that calls of the same operator with the same tensors share.
struct OperatorKind {
    StringInterner::Id name = 0;
    StringInterner::Id input_dims = 0;   ///< raw JSON
    StringInterner::Id input_types = 0;  ///< raw JSON
    std::uint32_t stride = 1;            ///< of a convolution
    // Set for calls that issue a collective:
    StringInterner::Id group_name = 0;
    StringInterner::Id group_ranks = 0;  ///< "[0, 1]"
    std::uint32_t group_size = 0;
    std::uint32_t communication = 0;  ///< 1 + index into RawTrace::calls; 0: it states nothing
    [[nodiscard]] std::array<std::uint64_t, 6> parts() const {
        return {
            name,
            input_dims,
            std::uint64_t{communication} << 32U | input_types,
            stride,
            std::uint64_t{group_name} << 32U | group_ranks,
            group_size};
    }
};

/// What a trace states about one run of a communication kernel, except its times.
struct CollectiveDetails {
    StringInterner::Id name = 0;  ///< the kernel's own "Collective name"
    StringInterner::Id datatype = 0;
    StringInterner::Id group_name = 0;
    StringInterner::Id group_ranks = 0;  ///< "[0, 1]"
    StringInterner::Id algorithm = 0;
    StringInterner::Id protocol = 0;
    std::uint64_t in_elements = 0;
    std::uint64_t out_elements = 0;
    std::uint64_t group_size = 0;
    StringInterner::Id in_splits = 0;  ///< of an all-to-all: parts for each member, in any unit
    StringInterner::Id out_splits = 0;
    std::uint32_t to_rank = kNoRank;  ///< of a send: the global rank that receives
    std::uint32_t from_rank = kNoRank;
    /// Sends and receives of one call: a range of RawTrace::messages.
    std::uint32_t first_message = 0;
    std::uint32_t messages = 0;
    /// c10d's name for the call ("nccl:all_reduce") and its tensors, if recorded.
    StringInterner::Id call = 0;
    StringInterner::Id call_dims = 0;
    StringInterner::Id call_types = 0;
};

/// A send or receive of a communication kernel.
struct RawMessage {
    std::uint32_t peer = 0;  ///< global rank
    bool sends = false;
    Bytes bytes;
};

/// Traffic of one kernel run, from hardware counters.
struct CountedTraffic {
    std::uint64_t read = 0;  ///< bytes
    std::uint64_t written = 0;
};

/// A GPU event joined with its CPU-side information. There is one per operation, so it holds only
/// numbers; RawTrace holds what they refer to.
struct RawGpuEvent {
    static constexpr std::uint32_t kNone = UINT32_MAX;

    std::uint64_t start = 0;  ///< ps
    std::uint64_t duration = 0;
    std::uint64_t launch = 0;  ///< start of the launching call, ps; never after `start`
    std::uint64_t launch_end = 0;
    std::uint64_t bytes = 0;  ///< of a copy
    std::uint32_t task = 0;   ///< index into RawTrace::tasks
    std::uint32_t stream = 0;
    std::uint32_t launch_thread = 0;
    std::uint32_t call = kNone;  ///< index of the operator call that launched it
    std::uint32_t op = kNone;    ///< index into RawTrace::operator_kinds of that innermost operator
    std::uint32_t details =
        kNone;  ///< index into RawTrace::collectives, or RawTrace::counted for a compute kernel
    /// Of a communication kernel: index of the innermost operator call that issues collectives.
    std::uint32_t issuer = kNone;
    GpuWork work = GpuWork::kKernel;
    bool has_launch = false;
    bool of_forward =
        false;              ///< a later operator computes the gradient of the one that launched it
    bool of_graph = false;  ///< launched by a CUDA graph
    bool inside_graph = false;  ///< and not the last operation of that launch

    [[nodiscard]] std::uint64_t end() const { return start + duration; }
};

struct RawStream {
    StringInterner::Id name = 0;
    std::uint64_t device = 0;
};

}  // namespace switchfold
