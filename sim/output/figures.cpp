// SPDX-License-Identifier: Apache-2.0
#include "sim/output/figures.h"

#include <algorithm>
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

/// The columns of a table that are shown, by their place in it.
template <class IsShown>
std::vector<const Figure*> columns(unsigned Figure::*place, IsShown is_column) {
    std::vector<const Figure*> shown;
    for (const Figure& figure : kFigures)
        if (is_column(figure))
            shown.push_back(&figure);
    std::sort(shown.begin(), shown.end(), [place](const Figure* a, const Figure* b) {
        return a->*place < b->*place;
    });
    return shown;
}

}  // namespace

std::vector<const Figure*>
shown_figures(const std::vector<const ScenarioFigures*>& scenarios, bool of_gpus) {
    return columns(&Figure::table_place, [&](const Figure& figure) {
        return is_shown(figure, scenarios) && (of_gpus || !figure.of_gpus);
    });
}

std::vector<const Figure*> loop_figures() {
    return columns(&Figure::loop_place, [](const Figure& figure) { return figure.loop_place > 0; });
}

}  // namespace switchfold
