// SPDX-License-Identifier: Apache-2.0
#include "sim/output/scenario_figures.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

std::vector<const Figure*> shown_figures(const std::vector<const ScenarioFigures*>& scenarios) {
    constexpr double kWorthSaying = 1e-2;
    std::vector<const Figure*> shown;
    for (const Figure& figure : kFigures)
        if (figure.table_place > 0 &&
            (!figure.rare ||
             std::any_of(scenarios.begin(), scenarios.end(), [&](const ScenarioFigures* s) {
                 return figure.of(*s).value_or(0) > kWorthSaying * s->iteration_us;
             })))
            shown.push_back(&figure);
    std::sort(shown.begin(), shown.end(), [](const Figure* a, const Figure* b) {
        return a->table_place < b->table_place;
    });
    return shown;
}

std::vector<const Cause*> shown_causes(const std::vector<const ScenarioFigures*>& scenarios) {
    // What a table prints as 0.0 %.
    constexpr double kNothing = 5e-4;
    std::vector<const Cause*> shown;
    for (const Cause& cause : kCauses)
        if (!cause.rare ||
            std::any_of(scenarios.begin(), scenarios.end(), [&](const ScenarioFigures* s) {
                return s->causes && std::abs((*s->causes).*cause.member) >= kNothing;
            }))
            shown.push_back(&cause);
    return shown;
}

}  // namespace switchfold
