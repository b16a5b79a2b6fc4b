// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/event.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace switchfold {

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
