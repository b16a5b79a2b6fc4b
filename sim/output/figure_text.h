// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/figures.h"

#include <optional>
#include <string>

namespace switchfold {

/// "12.3 us", "45.6 ms": the unit follows the size.
[[nodiscard]] std::string time_text(double us);
[[nodiscard]] std::string percent(double share);
/// A figure's value in its unit; "-" if there is none.
[[nodiscard]] std::string figure_text(const Figure& figure, std::optional<double> value);
/// A scenario's figure; both ends where it is the upper end of a range.
[[nodiscard]] std::string figure_text(const Figure& figure, const ScenarioFigures& scenario);
/// "12.1 to 13.4 ms": the unit once, where both ends have the same.
[[nodiscard]] std::string range_text(const std::string& low, const std::string& high);
[[nodiscard]] std::string interval_text(const Figure& figure, const ScenarioFigures& scenario);

}  // namespace switchfold
