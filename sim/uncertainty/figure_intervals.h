// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/intervals/residuals.h"
#include "sim/output/scenario_figures.h"
#include "sim/uncertainty/step_parts.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace switchfold {

/// Draws that intervals are read from: enough that their ends repeat to a few percent of the width.
inline constexpr std::size_t kIntervalDraws = 400;
inline constexpr std::uint64_t kIntervalSeed = 1;

/// A scenario whose intervals are wanted, or only its parts as a baseline.
struct IntervalCase {
    PartsOfStep parts;
    ScenarioFigures* figures = nullptr;  ///< null: a baseline that is not reported
    /// Index of the case that the speed-up is relative to.
    std::optional<std::size_t> baseline = std::nullopt;
    /// A figure of its pace is of a whole run, of whose pauses nothing was measured.
    bool of_run = false;
};

/// Sets the intervals of all cases' figures, by resampling: each draw is a machine that was
/// measured, and gives every part of a step the error that it had in cases like that part. A step
/// of draw i takes its kernels' time alone, times the error of kernels like them; plus what they
/// lose to what runs beside them, times that of overlap; plus exposed communication as collectives
/// slower or faster make it (ExposedChains); plus the rest. An interval holds the middle 90 % of
/// draws, and the figure. Gains are those of both scenarios in the same draw, so that what both
/// share cancels. Where whole steps like it were measured, an iteration has the wider of both
/// intervals; what the workload leaves open widens them. A slowdown's also holds the range that its
/// unmeasured causes leave.
///
/// A part without anything measured like it keeps its time. If it is more than a hundredth of a
/// figure, the figure is unmeasured, and its interval that of its other parts.
void tell_intervals(std::span<IntervalCase> cases, const intervals::Residuals& residuals);

/// Of a value that goes with the time of one collective: its time itself, or a bandwidth.
[[nodiscard]] FigureInterval
time_interval(double us, const PartKind& kind, const intervals::Residuals& residuals);
/// Of the ratio of two times on one machine, both of this kind: what both share cancels.
[[nodiscard]] FigureInterval
ratio_interval(double ratio, const PartKind& kind, const intervals::Residuals& residuals);
/// That of a value that goes with one with this interval.
[[nodiscard]] FigureInterval scaled(FigureInterval interval, double by);
/// Those of a value that is inversely proportional to one with this interval.
[[nodiscard]] FigureInterval
inverse_interval(double value, double us, const FigureInterval& of_time);

}  // namespace switchfold
