// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// One complete event ("ph": "X") of a trace; holds only the fields that the reader uses. Times are
/// ps since the clock's start.
struct TraceEvent {
    std::string phase;  ///< "X", "f", "M", ...
    std::string category;
    std::string name;
    std::string thread;
    std::uint64_t start = 0;
    std::uint64_t duration = 0;
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
    std::string algorithm;    ///< of the collective, if stated elsewhere than in its kernel's name
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
