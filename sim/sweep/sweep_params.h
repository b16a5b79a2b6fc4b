// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/any_value.h"
#include "core/params.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace switchfold {

/// Pointers to set and their values, given in exactly one of the three ways.
struct ValuesParams {
    std::string pointer;
    std::vector<AnyValue> values;
    std::string range;
    std::string files;
    static constexpr auto fields() {
        return list_of(
            field(
                "pointer", &ValuesParams::pointer,
                "JSON pointer of the parameter in the experiment, including files that it names.")
                .required(),
            field("values", &ValuesParams::values, "The values, as written in the experiment."),
            field(
                "range", &ValuesParams::range,
                "\"FROM..TO xN\" multiplies by N, \"FROM..TO +STEP\" adds STEP, up to TO: \"1 "
                "KiB..4 GiB x2\"."),
            field(
                "files", &ValuesParams::files,
                "Sorted paths of all files that match this pattern: FOLDER/*.json, relative to the "
                "sweep's file."));
    }
    void check(ParamChecker& checker) const;
};

/// One dimension of a sweep.
struct AxisParams {
    std::string name;
    std::string pointer;
    std::vector<AnyValue> values;
    std::string range;
    std::string files;
    std::vector<std::string> labels;
    std::vector<ValuesParams> zip;
    static constexpr auto fields() {
        return list_of(
            field("name", &AxisParams::name, "Name of the axis in results and filters.").required(),
            field(
                "pointer", &AxisParams::pointer,
                "JSON pointer of the parameter in the experiment, including files that it names.")
                .required(),
            field(
                "values", &AxisParams::values,
                "The values, as written in the experiment: paths are relative to its file."),
            field(
                "range", &AxisParams::range,
                "\"FROM..TO xN\" multiplies by N, \"FROM..TO +STEP\" adds STEP, up to TO: \"1 "
                "KiB..4 GiB x2\"."),
            field(
                "files", &AxisParams::files,
                "Sorted paths of all files that match this pattern: FOLDER/*.json, relative to the "
                "sweep's file."),
            field(
                "labels", &AxisParams::labels,
                "Names of the values in results; absent: the value itself, or a file's stem."),
            field(
                "zip", &AxisParams::zip,
                "Other parameters that change together with this one, with equally many values."));
    }
    void check(ParamChecker& checker) const;
    /// Its own values, in the same form as those zipped with it.
    [[nodiscard]] ValuesParams own() const { return {pointer, values, range, files}; }
};

using FilterParams = std::map<std::string, AnyValue>;

/// Many experiments that differ in the values of some parameters.
struct SweepParams {
    std::string name;
    AnyValue experiment;
    std::vector<AxisParams> axes;
    std::vector<FilterParams> only;
    std::vector<FilterParams> except;
    std::uint32_t repeats = 1;
    static constexpr auto fields() {
        return list_of(
            field("name", &SweepParams::name, "Name of the sweep in reports.").required(),
            field(
                "experiment", &SweepParams::experiment,
                "The experiment that is varied, or the path of its file.")
                .required(),
            field(
                "axes", &SweepParams::axes,
                "The dimensions: every combination of their values is a point; the last changes "
                "fastest.")
                .required(),
            field(
                "only", &SweepParams::only,
                "Filters: only points that match one of them are kept; absent: all. A filter gives "
                "for axes a label, \"< VALUE\" (also <=, >, >=), or an array of these."),
            field(
                "except", &SweepParams::except,
                "Filters: points that match one of them are removed."),
            field(
                "repeats", &SweepParams::repeats,
                "Runs of each point, with the seeds 1, 2, and so on; 1 leaves the seed as it is.",
                1U, 10'000U));
    }
    void check(ParamChecker& checker) const;
};

}  // namespace switchfold
