// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// Name of the instant events by which PyTorch's profiler tells of its allocators
/// (`profile_memory`).
inline constexpr std::string_view kAllocatorEvent = "[memory]";

/// One complete event ("ph": "X") of a trace, or an allocator's instant ("i"); holds only the
/// fields that the reader uses. Times are ps since the clock's start.
struct TraceEvent {
    std::string phase;  ///< "X", "f", "M", ...
    std::string category;
    std::string name;
    std::string thread;
    std::string process;  ///< "100", or "[TP00] 100" where several ranks were merged into one file
    std::uint64_t start = 0;
    std::uint64_t duration = 0;
    /// Of a GPU operation: the profiler recorded no time for it.
    bool without_time = false;
    /// Not empty: why an event that is no GPU operation cannot be used. It points to a literal.
    const char* unusable = nullptr;
    // From "args"; which of them are set depends on the category.
    std::optional<std::uint64_t> correlation;
    std::optional<std::uint64_t> external_id;
    std::optional<std::uint64_t> device;
    std::string stream;
    std::optional<Dim3> grid;
    std::optional<Dim3> block;
    std::uint32_t registers_per_thread = 0;
    std::uint64_t shared_memory = 0;
    std::uint64_t bytes = 0;
    // Of an allocator's instant event ("[memory]"):
    std::optional<std::uint64_t> device_type;  ///< 0: the host
    std::uint64_t allocated = 0;               ///< bytes handed out by then
    std::uint64_t reserved = 0;                ///< bytes taken from the device by then
    /// Bytes read from and written to memory according to hardware counters, if measured.
    std::optional<std::uint64_t> counted_read;
    std::optional<std::uint64_t> counted_written;
    std::string collective_name;
    std::string datatype;
    std::uint64_t in_elements = 0;
    std::uint64_t out_elements = 0;
    std::uint64_t group_size = 0;
    std::string group_name;
    std::string group_ranks;  ///< "[0, 1]"
    std::string in_splits;    ///< "[6, 2]": what of the tensor goes to each member, in any unit
    std::string out_splits;   ///< the same of what comes from each
    std::optional<std::uint64_t> to_rank;    ///< global rank to which a call sends
    std::optional<std::uint64_t> from_rank;  ///< global rank from which it receives
    /// PyTorch's number of the forward operator that this one is, or computes the gradient of.
    std::optional<std::uint64_t> sequence_number;
    std::string algorithm;  ///< of the collective, if stated elsewhere than in its kernel's name
    std::string protocol;
    std::string input_dims;       ///< raw JSON
    std::string input_types;      ///< raw JSON
    std::string concrete_inputs;  ///< raw JSON

    /// Resets all fields but keeps the texts' memory: readers refill one event again and again.
    void clear();
};

/// A launch's grid or block; nothing if the profiler recorded a zero, which no launch has.
[[nodiscard]] inline std::optional<Dim3> launch_shape(Dim3 shape) {
    return shape.x == 0 || shape.y == 0 || shape.z == 0 ? std::nullopt : std::optional(shape);
}

}  // namespace switchfold
