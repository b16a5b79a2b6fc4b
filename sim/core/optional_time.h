// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"

#include <optional>

namespace switchfold {

/// A time or none, as std::optional<Time>, in one register: what every packet gets back on every
/// hop. g++ 12 puts a std::optional together in memory and reads it back wider than it was written,
/// which stalls the processor for longer than the rest of the call takes.
class OptionalTime {
public:
    constexpr OptionalTime() = default;
    constexpr OptionalTime(std::nullopt_t /*none*/) {}
    /// Any time but kTimeMax, which no event can have.
    constexpr OptionalTime(Time time) : time_(time) {}

    [[nodiscard]] constexpr bool has_value() const { return time_ != kTimeMax; }
    constexpr explicit operator bool() const { return has_value(); }
    constexpr Time operator*() const { return time_; }
    constexpr const Time* operator->() const { return &time_; }

private:
    Time time_ = kTimeMax;
};

}  // namespace switchfold
