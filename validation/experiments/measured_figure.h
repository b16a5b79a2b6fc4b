// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/sweep/run_record.h"

#include <optional>
#include <string>
#include <string_view>

namespace switchfold::validation {

/// A figure of a result that a column measured.
struct MeasuredFigure {
    std::string key;   ///< column of a stored scenario; "time": of the collective, or of the step
    std::string name;  ///< without unit: "bus bandwidth"
    std::string unit;  ///< of cases: "us", "GB/s", "1"
    double scale = 1;  ///< the column's numbers times this are in that unit; 0: cells state theirs
};

/// As the unit of a figure: each cell states its own, such as "63.5 us".
inline constexpr std::string_view kUnitOfCells = "cells";

/// The figure of a word such as "time_ms", "iteration_us", "bus_bandwidth" or "speedup", whose unit
/// is in the word or, if `unit` is not empty, stated apart. Throws std::invalid_argument: what is
/// wrong, and what was expected.
[[nodiscard]] MeasuredFigure measured_figure(std::string_view word, std::string_view unit);

/// Whether a word is that of a figure that has units, such as "time", and names none.
[[nodiscard]] bool states_no_unit(std::string_view word);

/// A cell in the figure's unit: a number in the column's, or in the one behind it. Throws
/// std::invalid_argument: what is wrong, and what was expected.
[[nodiscard]] double measured_number(const MeasuredFigure& figure, std::string_view cell);

/// Its value in a scenario's result, in the figure's unit; none if the scenario has none.
[[nodiscard]] std::optional<double>
value_of(const MeasuredFigure& figure, const RecordedScenario& scenario);

/// Whether the figure is of one scenario alone; others are relative to another scenario.
[[nodiscard]] bool is_of_one_scenario(const MeasuredFigure& figure);

/// Whether it is what a step takes, or a rate of whole steps.
[[nodiscard]] bool is_of_step(const MeasuredFigure& figure);

}  // namespace switchfold::validation
