// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/record.h"

#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// Shares of a slowdown, relative to the time without overlap: 0.16 is 16 %. `other` is what
/// remains with every mechanism off; the shares add up to the whole.
struct SlowdownByCause {
    double sm = 0;
    double l2 = 0;
    double hbm = 0;
    double latency = 0;
    double completion = 0;
    double clock = 0;
    double other = 0;
};

/// A cause, declared once; files, tables, databases and pages are derived from this list.
struct Cause {
    std::string_view key;
    double SlowdownByCause::*member;
    std::string_view title;  ///< in charts and sentences
    /// Hidden in tables if zero in every scenario, because its mechanism is off by default.
    bool rare = false;
};
inline constexpr Cause kCauses[] = {
    {"sm", &SlowdownByCause::sm, "SMs held by communication"},
    {"l2", &SlowdownByCause::l2, "L2 capacity"},
    {"hbm", &SlowdownByCause::hbm, "memory bandwidth"},
    {"latency", &SlowdownByCause::latency, "latency under load"},
    {"completion", &SlowdownByCause::completion, "kernels' completions"},
    {"clock", &SlowdownByCause::clock, "clock", true},
    {"other", &SlowdownByCause::other, "other"}};

template <>
struct RecordFields<SlowdownByCause> {
    static constexpr auto list() {
        return []<std::size_t... I>(std::index_sequence<I...>) {
            return list_of(member(kCauses[I].key, kCauses[I].member, Form::kMicro)...);
        }
        (std::make_index_sequence<std::size(kCauses)>());
    }
};

/// The causes in a table of these.
[[nodiscard]] std::vector<const Cause*>
shown_causes(const std::vector<const SlowdownByCause*>& all);

}  // namespace switchfold
