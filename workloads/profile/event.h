// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// One complete event ("ph": "X") of a trace, as far as the reader uses it. Times are ps since the
/// clock's start.
struct TraceEvent {
    std::string phase;  ///< "X", "f", "M", ...
    std::string category;
    std::string name;
    std::string thread;
    std::uint64_t start = 0;
    std::uint64_t duration = 0;
    // From "args"; which are there depends on the category.
    std::optional<std::uint64_t> correlation;
    std::optional<std::uint64_t> external_id;
    std::optional<std::uint64_t> device;
    std::string stream;
    std::optional<Dim3> grid;
    std::optional<Dim3> block;
    std::uint32_t registers_per_thread = 0;
    std::uint64_t shared_memory = 0;
    std::uint64_t bytes = 0;
    /// Bytes that hardware counters saw go to and from memory, where they were measured.
    std::optional<std::uint64_t> counted_read;
    std::optional<std::uint64_t> counted_written;
    std::string collective_name;
    std::string datatype;
    std::uint64_t in_elements = 0;
    std::uint64_t out_elements = 0;
    std::uint64_t group_size = 0;
    std::string group_name;
    std::string group_ranks;  ///< "[0, 1]"
    std::string algorithm;    ///< of the collective, where not its kernel's name alone tells it
    std::string protocol;
    std::string input_dims;       ///< raw JSON
    std::string input_types;      ///< raw JSON
    std::string concrete_inputs;  ///< raw JSON

    /// As new, but for the memory that the texts hold: readers fill one event again and again.
    void clear();
};

/// A launch's grid or block; nothing where the profiler left a zero, which no launch has.
[[nodiscard]] inline std::optional<Dim3> launch_shape(Dim3 shape) {
    return shape.x == 0 || shape.y == 0 || shape.z == 0 ? std::nullopt : std::optional(shape);
}

/// Reads decimal microseconds into ps after `base_us`, exactly down to the last digit that ps can
/// hold. Empty if it is no such number, lies before the base or does not fit (213 days).
[[nodiscard]] std::optional<std::uint64_t>
microseconds_to_ps(std::string_view text, std::uint64_t base_us = 0);

/// Parses one event's text. Throws std::invalid_argument that says what was expected where. Times
/// count from a day before the first event: clocks that count from 1970 do not fit 64 bits of ps.
class EventParser {
public:
    EventParser();
    ~EventParser();
    EventParser(const EventParser&) = delete;
    EventParser& operator=(const EventParser&) = delete;
    EventParser(EventParser&&) = delete;
    EventParser& operator=(EventParser&&) = delete;
    /// `text` gets padding behind it.
    void parse(std::string& text, TraceEvent& event);

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
    std::optional<std::uint64_t> base_us_;
};

}  // namespace switchfold
