// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/error.h"
#include "sim/run/sweep/measure.h"
#include "sim/run/sweep/sweep_params.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// One value of an axis: what goes to each of its pointers, and what results call it.
struct AxisValue {
    std::vector<Json> values;
    std::string label;
    std::optional<Measure> measure;
};

/// An axis with its values written out.
struct Axis {
    std::string name;
    std::vector<std::string> pointers;
    std::vector<AxisValue> values;
    /// That of all of its values; none if they are no numbers or of different kinds.
    [[nodiscard]] std::optional<MeasureKind> kind() const;
};

/// Where the relative paths of a sweep start.
struct SweepFiles {
    std::filesystem::path sweep;
    std::filesystem::path experiment;  ///< the sweep's own file if it holds the experiment
};

/// More values than any axis needs, and few enough to hold.
inline constexpr std::size_t kMostAxisValues = 100'000;

/// Writes an axis out; notes what is wrong under `pointer`, the axis' place in the sweep's file.
[[nodiscard]] Axis expand_axis(
    const AxisParams& params,
    const SweepFiles& files,
    const std::string& pointer,
    std::vector<Problem>& problems);

/// Whether an axis' value fits what a filter says of its axis; throws std::invalid_argument if
/// nothing ever can.
[[nodiscard]] bool fits(const Axis& axis, const AxisValue& value, const Json& wanted);

}  // namespace switchfold
