// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/scenario_figures.h"
#include "sim/run/results/summary.h"

#include <vector>

namespace switchfold {

/// A part of the work whose slowdown is reported: its time in a run, and the members of a report
/// that hold its slowdown and the causes of that (kSlowedParts).
struct SlowedTime {
    double PhaseTimes::*time;
    std::optional<double> ScenarioFigures::*slowdown;
    std::optional<SlowdownByCause> ScenarioFigures::*causes;
};
/// Of every workload but loops, whose kernels have no phase and are `kSlowedKernel`.
inline constexpr SlowedTime kSlowedPhases[] = {
    {&PhaseTimes::forward, &ScenarioFigures::forward_slowdown, &ScenarioFigures::forward_causes},
    {&PhaseTimes::backward, &ScenarioFigures::backward_slowdown, &ScenarioFigures::causes},
    {&PhaseTimes::optimizer,
     &ScenarioFigures::optimizer_slowdown,
     &ScenarioFigures::optimizer_causes},
    {&PhaseTimes::other, &ScenarioFigures::other_slowdown, &ScenarioFigures::other_causes}};
inline constexpr SlowedTime kSlowedKernel{
    &PhaseTimes::other, &ScenarioFigures::kernel_slowdown, &ScenarioFigures::kernel_causes};

/// Times of a scenario that its slowdowns and their causes are told by.
struct RunTimes {
    PhaseTimes alone;  ///< without overlap
    PhaseTimes now;
    bool overlap = true;
    /// The same over those steps that causes were measured on: `without` each mechanism and, last,
    /// with all of them. Empty: no causes were asked for.
    PhaseTimes alone_first;
    std::vector<PhaseTimes> without;
};
/// Sets a part's slowdown, relative to its time without overlap, and its causes. A part that takes
/// no time has none.
void tell_slowdown(const RunTimes& times, const SlowedTime& part, ScenarioFigures& out);
/// The same for all phases.
void tell_slowdowns(const RunTimes& times, ScenarioFigures& out);

}  // namespace switchfold
