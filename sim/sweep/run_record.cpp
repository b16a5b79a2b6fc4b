// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/run_record.h"

#include "sim/kinds/kinds.h"

#include <type_traits>
#include <utility>

namespace switchfold {

namespace {

template <class T>
constexpr std::string_view sql_type() {
    if constexpr (std::is_same_v<T, std::string>)
        return "TEXT";
    else
        return std::is_floating_point_v<T> ? "REAL" : "INTEGER";
}

template <class T>
Json json_of(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

/// A column of a member, if it names one; null where `of` gives no record, and for empty texts.
template <class Described, class Of>
void add_member(std::vector<RecordColumn>& columns, const Described& described, const Of& of) {
    if (described.column.empty())
        return;
    using S = std::remove_cvref_t<decltype(*of(std::declval<const RecordedScenario&>()))>;
    using T = std::remove_cvref_t<decltype(described.of(std::declval<S&>()))>;
    if constexpr (std::is_same_v<T, std::string> || std::is_arithmetic_v<T>)
        columns.push_back(
            {std::string(described.column), sql_type<T>(),
             [described, of](const RecordedScenario& scenario) {
                 const S* record = of(scenario);
                 if (record == nullptr || is_empty(described.of(*record)))
                     return Json();
                 return Json(described.of(*record));
             }});
}

RecordColumn of_figure(const Figure& figure) {
    return {std::string(figure.key), sql_type<double>(), [figure](const RecordedScenario& s) {
                return json_of(figure.of(s));
            }};
}

const FigureIntervals* of_scenario(const RecordedScenario& scenario) {
    return &scenario.intervals;
}
const FigureIntervals* of_collective(const RecordedScenario& scenario) {
    return scenario.collective ? &scenario.collective->intervals : nullptr;
}

/// Both ends of an interval; null where there is none.
void add_ends(
    std::vector<RecordColumn>& columns, std::string_view key,
    const FigureIntervals* (*of)(const RecordedScenario&)) {
    const auto end = [&](std::string name, std::optional<double> FigureInterval::*which) {
        columns.push_back(
            {std::move(name), sql_type<double>(),
             [key = std::string(key), which, of](const RecordedScenario& s) {
                 const FigureIntervals* all = of(s);
                 const auto at =
                     all == nullptr ? FigureIntervals::const_iterator() : all->find(key);
                 return all == nullptr || at == all->end() ? Json() : json_of(at->second.*which);
             }});
    };
    end(at_least(key), &FigureInterval::low);
    end(at_most(key), &FigureInterval::high);
}

/// What the interval of the iteration rests on.
RecordColumn of_basis() {
    return {"intervals_like", sql_type<std::string>(), [](const RecordedScenario& s) {
                const auto at = s.intervals.find("iteration_us");
                return at == s.intervals.end() ? Json() : Json(at->second.like);
            }};
}

RecordColumn of_cause(const SlowedPart& part, const Cause& cause) {
    const std::string of = part.key == kMainPart ? "" : std::string(part.key) + "_";
    return {
        of + "cause_" + std::string(cause.key), sql_type<double>(),
        [part, cause](const RecordedScenario& s) {
            return s.*part.causes ? Json((*(s.*part.causes)).*cause.member) : Json();
        }};
}

void add_columns(std::vector<RecordColumn>& columns, const FigureMembers& /*part*/) {
    for (const Figure& figure : kFigures)
        columns.push_back(of_figure(figure));
}

void add_columns(
    std::vector<RecordColumn>& columns,
    const RecordMember<ScenarioFigures, FigureIntervals>& /*member*/) {
    for (const Figure& figure : kFigures)
        if (figure.has_interval)
            add_ends(columns, figure.key, of_scenario);
    for (const char* key : {"time_us", "algorithm_bandwidth_GBps", "bus_bandwidth_GBps"})
        add_ends(columns, key, of_collective);
    columns.push_back(of_basis());
}

void add_columns(std::vector<RecordColumn>& columns, const CausesByPhase& /*part*/) {
    for (const SlowedPart& part : kSlowedParts)
        for (const Cause& cause : kCauses)
            columns.push_back(of_cause(part, cause));
}

void add_columns(
    std::vector<RecordColumn>& columns,
    const RecordMember<RecordedScenario, std::optional<CollectiveResult>>& /*member*/) {
    for_each_of(CollectiveResult::fields(), [&](const auto& described) {
        add_member(columns, described, [](const RecordedScenario& scenario) {
            return scenario.collective ? &*scenario.collective : nullptr;
        });
    });
}

template <class Owner, class T>
void add_columns(std::vector<RecordColumn>& columns, const RecordMember<Owner, T>& described) {
    add_member(columns, described, [](const RecordedScenario& scenario) {
        return static_cast<const Owner*>(&scenario);
    });
}

}  // namespace

std::vector<RecordColumn> record_columns() {
    std::vector<RecordColumn> columns;
    for_each_of(RecordFields<RecordedScenario>::list(), [&](const auto& described) {
        add_columns(columns, described);
    });
    return columns;
}

RunRecord record_of(const ExperimentResult& result) {
    RunRecord record;
    const WorkloadKind* const kind = kind_named(result.workload.type);
    record.host = {{}, result.host.wall_s, result.host.peak_rss_bytes};
    for (const ScenarioResult& from : result.scenarios) {
        RecordedScenario& to = record.scenarios.emplace_back();
        static_cast<ScenarioFigures&>(to) = from;
        to.collectives = from.collectives.size();
        for (const CollectiveResult& c : from.collectives)
            to.collectives_us += c.time_us;
        if (kind != nullptr && kind->is_one_collective(from))
            to.collective = from.collectives.front();
    }
    return record;
}

}  // namespace switchfold
