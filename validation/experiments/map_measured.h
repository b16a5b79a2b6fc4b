// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::validation {

/// What answers about a number are like (sim/intervals): those of machines with as many ranks.
struct MapLikeness {
    std::string kind;
    std::string operation;
    static constexpr auto fields() {
        return list_of(
            field("kind", &MapLikeness::kind, "collective, step ...").required(),
            field("operation", &MapLikeness::operation, "Of that kind: training ...").required());
    }
};

/// A measured number.
struct MapMeasured {
    std::string column;
    std::string figure;
    std::string unit;
    std::string amount;
    std::string low;
    std::string high;
    std::map<std::string, std::string> when;
    std::string name;
    std::string shown;
    std::vector<std::string> group;
    std::optional<std::string> suffix;
    std::optional<MapLikeness> like;
    static constexpr auto fields() {
        return list_of(
            field("column", &MapMeasured::column, "Name of the column.").required(),
            field(
                "figure", &MapMeasured::figure,
                "What of a result it is: time, bus_bandwidth, iteration ...")
                .required(),
            field("unit", &MapMeasured::unit, "Of the column: us, ms, s, GB/s ..."),
            field(
                "amount", &MapMeasured::amount,
                "Column with what was done in that time, if the measured column is a rate: samples "
                "of a step beside samples a second."),
            field("low", &MapMeasured::low, "Column with the lower end of its interval."),
            field("high", &MapMeasured::high, "Column with the upper end."),
            field("when", &MapMeasured::when, "Rows that it is of; as in rules."),
            field("name", &MapMeasured::name, "Of its quantity, instead of the figure's."),
            field("shown", &MapMeasured::shown, "Unit of its cases, instead of the figure's."),
            field("group", &MapMeasured::group, "Of its cases, instead of the row's; as there."),
            field(
                "suffix", &MapMeasured::suffix,
                "Behind the row's id in its cases' ids. Default: its name, if the row has several "
                "numbers."),
            field(
                "like", &MapMeasured::like,
                "What its answers are like. Default: other collectives, of a collective; other "
                "steps, of a step."));
    }
};

}  // namespace switchfold::validation
