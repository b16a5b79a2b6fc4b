// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/record.h"
#include "core/statistics.h"

#include <array>
#include <string_view>
#include <utility>

namespace switchfold {

template <>
struct EnumNames<Unit> {
    static constexpr std::array<std::pair<Unit, std::string_view>, 5> kNames{
        {{Unit::kCount, "count"},
         {Unit::kBytes, "bytes"},
         {Unit::kMicroseconds, "us"},
         {Unit::kShare, "share"},
         {Unit::kFactor, "factor"}}};
};

template <>
struct RecordFields<StatisticTable::Column> {
    static constexpr auto list() {
        using C = StatisticTable::Column;
        return list_of(
            member("name", &C::name), member("unit", &C::unit), member("meaning", &C::meaning));
    }
};

template <>
struct RecordFields<StatisticTable::Row> {
    static constexpr auto list() {
        using R = StatisticTable::Row;
        return list_of(member("name", &R::name), member("values", &R::values));
    }
};

/// In files without its rows, which stand with the scenario.
template <>
struct RecordFields<StatisticTable> {
    static constexpr auto list() {
        using T = StatisticTable;
        return list_of(
            member("kind", &T::kind), member("about", &T::about), member("values", &T::columns),
            member("rows", &T::rows).sent_only());
    }
};

}  // namespace switchfold
