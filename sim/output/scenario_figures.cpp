// SPDX-License-Identifier: Apache-2.0
#include "sim/output/scenario_figures.h"

namespace switchfold {

bool is_noticeable(double us, const ScenarioFigures& scenario) {
    constexpr double kShare = 1e-2;
    return us > kShare * scenario.iteration_us;
}

std::vector<SlowedRow> slowed_rows(const std::vector<const ScenarioFigures*>& scenarios) {
    constexpr double kVisible = 5e-3;
    std::vector<SlowedRow> rows;
    for (const ScenarioFigures* s : scenarios)
        for (const SlowedPart& part : kSlowedParts)
            if (part.key != kMainPart && s->*part.causes &&
                (s->*part.slowdown).value_or(0) >= kVisible)
                rows.push_back({s, &part});
    return rows;
}

}  // namespace switchfold
