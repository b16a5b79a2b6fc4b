// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "sim/sweep/measure.h"
#include "sim/sweep/sweep_params.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// One value of an axis: the value for each of its pointers, and its name in results.
struct AxisValue {
    std::vector<Json> values;
    std::string label;
    std::optional<Measure> measure;
};

/// An axis with all its values.
struct Axis {
    std::string name;
    std::vector<std::string> pointers;
    std::vector<AxisValue> values;
    /// Common kind of all its values; none if they are not numbers or of different kinds.
    [[nodiscard]] std::optional<MeasureKind> kind() const;
};

/// Base folders for a sweep's relative paths.
struct SweepFiles {
    std::filesystem::path sweep;
    std::filesystem::path experiment;  ///< the sweep's own file if it contains the experiment
};

/// Limit on an axis' values.
inline constexpr std::size_t kMostAxisValues = 100'000;

/// Expands an axis; adds problems under `pointer`, the axis' position in the sweep's file.
[[nodiscard]] Axis expand_axis(
    const AxisParams& params, const SweepFiles& files, const std::string& pointer,
    std::vector<Problem>& problems);

/// Whether an axis' value passes a filter's condition; throws std::invalid_argument if no value
/// ever can.
[[nodiscard]] bool fits(const Axis& axis, const AxisValue& value, const Json& wanted);

}  // namespace switchfold
