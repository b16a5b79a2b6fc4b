// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <optional>

namespace switchfold {

/// A std::optional<Time> in one register, returned to every packet on every hop. g++ 12 builds a
/// std::optional in memory and reads it back with a wider load than it was written with; that
/// store-forwarding stall takes longer than the rest of the call.
class OptionalTime {
public:
    constexpr OptionalTime() = default;
    constexpr OptionalTime(std::nullopt_t /*none*/) {}
    /// Any time but kTimeMax, which stands for none.
    constexpr OptionalTime(Time time) : time_(time) {}

    [[nodiscard]] constexpr bool has_value() const { return time_ != kTimeMax; }
    constexpr explicit operator bool() const { return has_value(); }
    constexpr Time operator*() const { return time_; }
    constexpr const Time* operator->() const { return &time_; }

private:
    Time time_ = kTimeMax;
};

}  // namespace switchfold
