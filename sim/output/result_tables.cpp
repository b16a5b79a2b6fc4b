// SPDX-License-Identifier: Apache-2.0
#include "sim/output/result_tables.h"

#include "sim/output/columns.h"
#include "sim/output/figure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace switchfold {

std::vector<const ScenarioFigures*> figures_of(const ExperimentResult& result) {
    std::vector<const ScenarioFigures*> scenarios;
    for (const ScenarioResult& s : result.scenarios)
        scenarios.push_back(&s);
    return scenarios;
}

std::vector<std::vector<std::string>> figure_rows(
    const ExperimentResult& result, std::string first, const std::vector<const Figure*>& figures,
    const std::function<std::string(const Figure&, const ScenarioFigures&)>& text) {
    std::vector<std::vector<std::string>> rows{{std::move(first)}};
    for (const Figure* figure : figures)
        rows[0].emplace_back(figure->title);
    for (const ScenarioResult& s : result.scenarios) {
        std::vector<std::string>& row = rows.emplace_back();
        row.push_back(s.name);
        for (const Figure* figure : figures)
            row.push_back(text(*figure, s));
    }
    return rows;
}

namespace {

std::string own_text(const Figure& figure, const ScenarioFigures& scenario) {
    return figure_text(figure, scenario);
}

}  // namespace

std::string figures_table(const ExperimentResult& result, bool of_gpus) {
    const std::vector<const ScenarioFigures*> scenarios = figures_of(result);
    std::vector<const SlowdownByCause*> known;
    for (const ScenarioFigures* s : scenarios)
        if (s->causes)
            known.push_back(&*s->causes);
    const auto causes = of_gpus ? shown_causes(known) : std::vector<const Cause*>();
    auto rows = figure_rows(result, "scenario", shown_figures(scenarios, of_gpus), own_text);
    for (const Cause* cause : causes) {
        rows[0].emplace_back(cause->key);
        for (std::size_t i = 0; i < scenarios.size(); ++i) {
            const auto& of = scenarios[i]->causes;
            rows[i + 1].push_back(of ? percent((*of).*cause->member) : "-");
        }
    }
    return align_columns(rows);
}

std::string
figures_table(const ExperimentResult& result, const std::vector<const Figure*>& figures) {
    return align_columns(figure_rows(result, "scenario", figures, own_text));
}

std::string
intervals_table(const ExperimentResult& result, const std::vector<const Figure*>& figures) {
    std::vector<const Figure*> known;
    for (const Figure* figure : figures)
        if (std::any_of(
                result.scenarios.begin(), result.scenarios.end(), [&](const ScenarioResult& s) {
                    const FigureInterval* const interval = interval_of(*figure, s);
                    return interval != nullptr && interval->low;
                }))
            known.push_back(figure);
    if (known.empty())
        return "";
    return "\n" + align_columns(figure_rows(result, "90 % of such cases", known, interval_text));
}

std::string collective_intervals_table(const ExperimentResult& result) {
    std::vector<std::vector<std::string>> rows{
        {"90 % of such cases", "time", "algorithm GB/s", "bus GB/s"}};
    bool known = false;
    for (const ScenarioResult& s : result.scenarios)
        for (const CollectiveResult& c : s.collectives) {
            std::vector<std::string>& row = rows.emplace_back();
            row.push_back(s.collectives.size() == 1 ? s.name : s.name + " " + c.name);
            for (const char* key : {"time_us", "algorithm_bandwidth_GBps", "bus_bandwidth_GBps"}) {
                const auto at = c.intervals.find(key);
                const bool has = at != c.intervals.end() && at->second.low;
                known = known || has;
                const bool time = at != c.intervals.end() && at->first == "time_us";
                const auto text = [&](double value) {
                    return time ? time_text(value) : fmt::format("{:.1f}", value);
                };
                row.push_back(
                    has ? range_text(text(*at->second.low), text(*at->second.high)) : "-");
            }
        }
    return known ? "\n" + align_columns(rows) : "";
}

namespace {

/// What a scenario's intervals rest on: those of its time, which is of all its parts.
std::string basis_of(const ScenarioResult& s) {
    for (const CollectiveResult& c : s.collectives)
        if (const auto at = c.intervals.find("time_us"); at != c.intervals.end())
            return at->second.like;
    const auto at = s.intervals.find("iteration_us");
    return at == s.intervals.end() ? "" : at->second.like;
}

}  // namespace

std::string basis_lines(const ExperimentResult& result) {
    std::vector<std::pair<std::string, std::string>> lines;  // basis, scenarios
    for (const ScenarioResult& s : result.scenarios) {
        const std::string basis = basis_of(s);
        if (basis.empty())
            continue;
        const auto same = std::find_if(
            lines.begin(), lines.end(), [&](const auto& line) { return line.first == basis; });
        if (same == lines.end())
            lines.emplace_back(basis, s.name);
        else
            same->second += ", " + s.name;
    }
    std::string text;
    for (const auto& [basis, scenarios] : lines)
        text += fmt::format(
            "intervals{}: {}{}\n", lines.size() == 1 ? "" : " of " + scenarios,
            basis.starts_with("unmeasured") ? "" : "90 % of ", basis);
    return text;
}

namespace {

std::string slowdown_text(const SlowedPart& part, const ScenarioFigures& scenario) {
    const auto* const figure =
        std::find_if(std::begin(kFigures), std::end(kFigures), [&](const Figure& f) {
            const auto* const own =
                std::get_if<std::optional<double> ScenarioFigures::*>(&f.member);
            return own != nullptr && *own == part.slowdown;
        });
    return figure_text(*figure, scenario);
}

}  // namespace

std::string slowed_table(const ExperimentResult& result) {
    const std::vector<const ScenarioFigures*> scenarios = figures_of(result);
    const std::vector<SlowedRow> slowed = slowed_rows(scenarios);
    if (slowed.empty())
        return "";
    std::vector<const SlowdownByCause*> known;
    for (const SlowedRow& row : slowed)
        known.push_back(&*(row.scenario->*row.part->causes));
    const std::vector<const Cause*> causes = shown_causes(known);
    std::vector<std::vector<std::string>> rows{{"scenario", "slowed", "slowdown"}};
    for (const Cause* cause : causes)
        rows[0].emplace_back(cause->key);
    for (std::size_t i = 0; i < slowed.size(); ++i) {
        const auto& [scenario, part] = slowed[i];
        std::vector<std::string>& row = rows.emplace_back();
        row = {scenario->name, std::string(part->title), slowdown_text(*part, *scenario)};
        for (const Cause* cause : causes)
            row.push_back(percent(known[i]->*cause->member));
    }
    return "\n" + align_columns(rows);
}

}  // namespace switchfold
