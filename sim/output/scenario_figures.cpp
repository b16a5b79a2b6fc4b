// SPDX-License-Identifier: Apache-2.0
#include "sim/output/scenario_figures.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace switchfold {

namespace {

bool is_shown(const Figure& figure, const std::vector<const ScenarioFigures*>& scenarios) {
    if (figure.table_place == 0 || figure.shown_by.empty())
        return figure.table_place > 0;
    const auto* const by =
        std::find_if(std::begin(kFigures), std::end(kFigures), [&](const Figure& f) {
            return f.key == figure.shown_by;
        });
    return std::any_of(scenarios.begin(), scenarios.end(), [&](const ScenarioFigures* s) {
        return by->is_optional() ? by->of(*s).has_value()
                                 : is_noticeable(by->of(*s).value_or(0), *s);
    });
}

}  // namespace

bool is_noticeable(double us, const ScenarioFigures& scenario) {
    constexpr double kShare = 1e-2;
    return us > kShare * scenario.iteration_us;
}

std::vector<const Figure*>
shown_figures(const std::vector<const ScenarioFigures*>& scenarios, bool of_gpus) {
    std::vector<const Figure*> shown;
    for (const Figure& figure : kFigures)
        if (is_shown(figure, scenarios) && (of_gpus || !figure.of_gpus))
            shown.push_back(&figure);
    std::sort(shown.begin(), shown.end(), [](const Figure* a, const Figure* b) {
        return a->table_place < b->table_place;
    });
    return shown;
}

std::vector<const Figure*> loop_figures() {
    std::vector<const Figure*> shown;
    for (const Figure& figure : kFigures)
        if (figure.loop_place > 0)
            shown.push_back(&figure);
    std::sort(shown.begin(), shown.end(), [](const Figure* a, const Figure* b) {
        return a->loop_place < b->loop_place;
    });
    return shown;
}

std::vector<const Cause*> shown_causes(const std::vector<const SlowdownByCause*>& all) {
    // Prints as 0.0 % below this.
    constexpr double kNothing = 5e-4;
    std::vector<const Cause*> shown;
    for (const Cause& cause : kCauses)
        if (!cause.rare || std::any_of(all.begin(), all.end(), [&](const SlowdownByCause* causes) {
                return std::abs(causes->*cause.member) >= kNothing;
            }))
            shown.push_back(&cause);
    return shown;
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
