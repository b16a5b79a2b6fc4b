// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/event.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace switchfold {

/// Converts decimal microseconds to ps after `base_us`, exact to the last digit that ps can hold.
/// Empty if the text is not such a number, lies before the base or overflows (213 days).
[[nodiscard]] std::optional<std::uint64_t>
microseconds_to_ps(std::string_view text, std::uint64_t base_us = 0);

/// Parses the text of one event. Throws std::invalid_argument that says what was expected and
/// where, if the event is of the GPU: others are marked unusable instead. Times count from a day
/// before the first event, because ps since 1970 do not fit 64 bits.
class EventParser {
public:
    EventParser();
    ~EventParser();
    EventParser(const EventParser&) = delete;
    EventParser& operator=(const EventParser&) = delete;
    EventParser(EventParser&&) = delete;
    EventParser& operator=(EventParser&&) = delete;
    /// Appends padding to `text`.
    void parse(std::string& text, TraceEvent& event);

private:
    void read_times(std::string_view start, std::string_view duration, TraceEvent& event);

    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
    std::optional<std::uint64_t> base_us_;
};

}  // namespace switchfold
