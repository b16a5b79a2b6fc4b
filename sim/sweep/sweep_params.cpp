// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/sweep_params.h"

#include "sim/sweep/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace switchfold {

namespace {

void check_values(const ValuesParams& values, ParamChecker& checker) {
    if (!values.pointer.starts_with('/'))
        checker.error(
            "/pointer",
            fmt::format(
                "is \"{}\"; expected a JSON pointer such as /workload/size", values.pointer));
    const int ways = (values.values.empty() ? 0 : 1) + (values.range.empty() ? 0 : 1) +
                     (values.files.empty() ? 0 : 1);
    if (ways != 1)
        checker.error(
            "",
            ways == 0
                ? "has no values; expected one of values, range, files"
                : "gives its values in more than one way; expected one of values, range, files");
}

/// Whether the database's view has such a column in every sweep.
bool is_a_column(const std::string& name) {
    for (const std::string_view fixed :
         {"point", "digest", "status", "exit_code", "error", "machine"})
        if (name == fixed)
            return true;
    const std::vector<RecordColumn> columns = record_columns();
    return std::any_of(columns.begin(), columns.end(), [&](const RecordColumn& column) {
        return column.name == name;
    });
}

}  // namespace

void ValuesParams::check(ParamChecker& checker) const {
    check_values(*this, checker);
}

void AxisParams::check(ParamChecker& checker) const {
    if (name.empty())
        checker.error("/name", "is empty; expected a name");
    if (is_a_column(name))
        checker.error(
            "/name",
            fmt::format(
                "\"{}\" is a column of every sweep's results; expected another name", name));
    check_values(own(), checker);
}

void SweepParams::check(ParamChecker& checker) const {
    if (axes.empty())
        checker.error("/axes", "is empty; expected at least one axis");
    // SQLite joins at most 64 tables, and an axis uses two.
    constexpr std::size_t kMostAxes = 24;
    if (axes.size() > kMostAxes)
        checker.error("/axes", fmt::format("are {}; expected at most {}", axes.size(), kMostAxes));
    std::set<std::string> names;
    std::set<std::string> pointers;
    const auto once = [&](const std::string& pointer, const std::string& where) {
        if (!pointers.insert(pointer).second)
            checker.error(
                where, fmt::format("is {}, which varies already; expected it once", pointer));
    };
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::string at = fmt::format("/axes/{}", i);
        if (!names.insert(axes[i].name).second)
            checker.error(
                at + "/name",
                fmt::format("\"{}\" is given twice; expected each name once", axes[i].name));
        once(axes[i].pointer, at + "/pointer");
        for (std::size_t j = 0; j < axes[i].zip.size(); ++j)
            once(axes[i].zip[j].pointer, fmt::format("{}/zip/{}/pointer", at, j));
    }
    if (repeats > 1) {
        if (names.contains("seed"))
            checker.error("/axes", "have one named seed beside repeats; expected one of them");
        once("/seed", "/repeats");
    }
}

}  // namespace switchfold
