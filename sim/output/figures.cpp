// SPDX-License-Identifier: Apache-2.0
#include "sim/output/figures.h"

#include <algorithm>
#include <iterator>

namespace switchfold {

namespace {

using Scenarios = std::vector<const ScenarioFigures*>;

bool is_shown(const Figure& figure, const Scenarios& scenarios) {
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

bool any_knows(const Scenarios& scenarios, const std::optional<double> ScenarioFigures::*figure) {
    return std::any_of(scenarios.begin(), scenarios.end(), [&](const ScenarioFigures* s) {
        return (s->*figure).has_value();
    });
}

}  // namespace

const FigureInterval* interval_of(const Figure& figure, const ScenarioFigures& scenario) {
    const auto at = scenario.intervals.find(figure.key);
    return at == scenario.intervals.end() ? nullptr : &at->second;
}

std::string at_least(std::string_view key) {
    return std::string(key) + "_at_least";
}
std::string at_most(std::string_view key) {
    return std::string(key) + "_at_most";
}

std::vector<const Figure*> shown_figures(const Scenarios& scenarios, bool of_gpus) {
    const std::vector<const Figure*> above = run_figures(scenarios);
    return columns(&Figure::table_place, [&](const Figure& figure) {
        return is_shown(figure, scenarios) && (of_gpus || !figure.of_gpus) &&
               std::find(above.begin(), above.end(), &figure) == above.end() &&
               (above.empty() || !figure.pace);
    });
}

std::vector<const Figure*> loop_figures() {
    return columns(&Figure::loop_place, [](const Figure& figure) { return figure.loop_place > 0; });
}

std::vector<const Figure*> run_figures(const Scenarios& scenarios) {
    const bool members = any_knows(scenarios, &ScenarioFigures::run_us);
    const bool learning = any_knows(scenarios, &ScenarioFigures::diverged_seeds);
    return columns(&Figure::run_place, [&](const Figure& figure) {
        const bool of_these =
            (members && (figure.run_of == RunOf::kMembers || figure.run_of == RunOf::kEither)) ||
            (learning && (figure.run_of == RunOf::kLearning || figure.run_of == RunOf::kEither));
        if (!of_these)
            return false;
        const std::optional<double> first = figure.of(*scenarios.front());
        bool known = false;
        bool differs = false;
        for (const ScenarioFigures* s : scenarios) {
            known = known || figure.of(*s).has_value();
            differs = differs || figure.of(*s) != first;
        }
        return known && (differs || members || !figure.where_it_differs);
    });
}

}  // namespace switchfold
