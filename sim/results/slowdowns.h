// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/scenario_figures.h"
#include "sim/results/causes.h"
#include "sim/results/summary.h"

#include <map>

namespace switchfold {

/// A part of the work whose slowdown is reported: its time in a run, and the members of a report
/// that hold its slowdown and the causes of that (kSlowedParts).
struct SlowedTime {
    double PhaseTimes::*time;
    std::optional<double> ScenarioFigures::*slowdown;
    std::optional<SlowdownByCause> ScenarioFigures::*causes;
    std::optional<double> ScenarioFigures::*low;  ///< without what is unmeasured
};
/// Of every workload but loops, whose kernels have no phase and are `kSlowedKernel`.
inline constexpr SlowedTime kSlowedPhases[] = {
    {&PhaseTimes::forward, &ScenarioFigures::forward_slowdown, &ScenarioFigures::forward_causes,
     &ScenarioFigures::forward_slowdown_low},
    {&PhaseTimes::backward, &ScenarioFigures::backward_slowdown, &ScenarioFigures::causes,
     &ScenarioFigures::backward_slowdown_low},
    {&PhaseTimes::optimizer, &ScenarioFigures::optimizer_slowdown,
     &ScenarioFigures::optimizer_causes, &ScenarioFigures::optimizer_slowdown_low},
    {&PhaseTimes::other, &ScenarioFigures::other_slowdown, &ScenarioFigures::other_causes,
     &ScenarioFigures::other_slowdown_low}};
inline constexpr SlowedTime kSlowedKernel{
    &PhaseTimes::other, &ScenarioFigures::kernel_slowdown, &ScenarioFigures::kernel_causes,
    &ScenarioFigures::kernel_slowdown_low};

/// Times of a scenario that its slowdowns and their causes are told by.
struct RunTimes {
    PhaseTimes alone;  ///< without overlap
    PhaseTimes now;
    bool overlap = true;
    /// The same over those steps that causes were measured on, by the mechanisms that are on.
    /// Empty: no causes were asked for.
    PhaseTimes alone_first;
    std::map<MechanismSet, PhaseTimes> with;
    MechanismSet there = 0;  ///< what the machine has of kMechanisms
    /// What of it was measured on other GPUs only.
    MechanismSet unmeasured = 0;
};
/// Sets a part's slowdown, relative to its time without overlap, its causes, and the lower end of
/// its range if something is unmeasured. A part that takes no time has none.
void tell_slowdown(const RunTimes& times, const SlowedTime& part, ScenarioFigures& out);
/// The same for all phases.
void tell_slowdowns(const RunTimes& times, ScenarioFigures& out);

}  // namespace switchfold
