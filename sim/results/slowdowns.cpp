// SPDX-License-Identifier: Apache-2.0
#include "sim/results/slowdowns.h"

#include <algorithm>

namespace switchfold {

void tell_slowdown(const RunTimes& times, const SlowedTime& part, ScenarioFigures& out) {
    const double alone = times.alone.*part.time;
    if (!(alone > 0))
        return;
    const double slowdown = times.now.*part.time / alone - 1.0;
    out.*part.slowdown = slowdown;
    const double first = times.alone_first.*part.time;
    if (!times.with.empty() && first > 0) {
        const auto slowdown_with = [&](MechanismSet on) {
            return times.with.at(on).*part.time / first - 1.0;
        };
        out.*part.causes = find_causes(slowdown, times.there, slowdown_with);
        if (times.unmeasured != 0) {
            const double all = slowdown_with(kAllMechanisms);
            const double measured = slowdown_with(kAllMechanisms & ~times.unmeasured);
            out.*part.low = std::min(slowdown, all > 0 ? measured * slowdown / all : measured);
        }
    } else if (!times.overlap)
        // Without overlap no mechanism can slow compute.
        (out.*part.causes).emplace().other = slowdown;
}

void tell_slowdowns(const RunTimes& times, ScenarioFigures& out) {
    for (const SlowedTime& phase : kSlowedPhases)
        tell_slowdown(times, phase, out);
}

}  // namespace switchfold
