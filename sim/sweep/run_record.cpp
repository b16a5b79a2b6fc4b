// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/run_record.h"

#include "sim/output/figures.h"

#include <stdexcept>
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

template <class T, class Owner>
RecordColumn own(std::string name, T Owner::*member) {
    return {
        std::move(name), sql_type<T>(),
        [member](const RecordedScenario& s) { return Json(s.*member); },
        [member](RecordedScenario& s, const Json& json) { s.*member = json.get<T>(); }};
}

RecordColumn of_figure(const Figure& figure) {
    return {
        std::string(figure.key), sql_type<double>(),
        [figure](const RecordedScenario& s) {
            const std::optional<double> value = figure.of(s);
            return value ? Json(*value) : Json();
        },
        [figure](RecordedScenario& s, const Json& json) {
            figure.set(s, json.is_null() ? std::nullopt : std::optional(json.get<double>()));
        }};
}

enum class IntervalsOf { kScenario, kCollective };

/// One end of an interval; null where there is none.
RecordColumn end_of_interval(
    std::string name, std::string key, std::optional<double> FigureInterval::*end, IntervalsOf of) {
    return {
        std::move(name), sql_type<double>(),
        [key, end, of](const RecordedScenario& s) {
            if (of == IntervalsOf::kCollective && !s.collective)
                return Json();
            const FigureIntervals& all =
                of == IntervalsOf::kScenario ? s.intervals : s.collective->intervals;
            const auto at = all.find(key);
            return at == all.end() || !(at->second.*end) ? Json() : Json(*(at->second.*end));
        },
        [key, end, of](RecordedScenario& s, const Json& json) {
            if (json.is_null())
                return;
            if (of == IntervalsOf::kCollective && !s.collective)
                s.collective.emplace();
            FigureIntervals& all =
                of == IntervalsOf::kScenario ? s.intervals : s.collective->intervals;
            all[key].*end = json.get<double>();
        }};
}

void add_ends(std::vector<RecordColumn>& columns, std::string_view key, IntervalsOf of) {
    columns.push_back(end_of_interval(at_least(key), std::string(key), &FigureInterval::low, of));
    columns.push_back(end_of_interval(at_most(key), std::string(key), &FigureInterval::high, of));
}

/// What the interval of the iteration rests on.
RecordColumn of_basis() {
    static constexpr std::string_view kOf = "iteration_us";
    return {
        "intervals_like", sql_type<std::string>(),
        [](const RecordedScenario& s) {
            const auto at = s.intervals.find(kOf);
            return at == s.intervals.end() ? Json() : Json(at->second.like);
        },
        [](RecordedScenario& s, const Json& json) {
            if (!json.is_null())
                s.intervals[std::string(kOf)].like = json.get<std::string>();
        }};
}

RecordColumn of_cause(const SlowedPart& part, const Cause& cause) {
    const std::string of = part.key == kMainPart ? "" : std::string(part.key) + "_";
    return {
        of + "cause_" + std::string(cause.key), sql_type<double>(),
        [part, cause](const RecordedScenario& s) {
            return s.*part.causes ? Json((*(s.*part.causes)).*cause.member) : Json();
        },
        [part, cause](RecordedScenario& s, const Json& json) {
            if (json.is_null())
                return;
            if (!(s.*part.causes))
                (s.*part.causes).emplace();
            (*(s.*part.causes)).*cause.member = json.get<double>();
        }};
}

/// A column of the single collective; empty texts become null.
template <class T>
RecordColumn of_collective(std::string name, T RecordedCollective::*member) {
    return {
        std::move(name), sql_type<T>(),
        [member](const RecordedScenario& s) {
            if (!s.collective)
                return Json();
            if constexpr (std::is_same_v<T, std::string>)
                if ((*s.collective.*member).empty())
                    return Json();
            return Json(*s.collective.*member);
        },
        [member](RecordedScenario& s, const Json& json) {
            if (json.is_null())
                return;
            if (!s.collective)
                s.collective.emplace();
            *s.collective.*member = json.get<T>();
        }};
}

Json scenario_json(const RecordedScenario& scenario, const std::vector<RecordColumn>& columns) {
    Json values = Json::array();
    for (const RecordColumn& column : columns)
        values.push_back(column.get(scenario));
    return values;
}

}  // namespace

RunRecord record_of(const ExperimentResult& result) {
    RunRecord record;
    record.host = {{}, result.host.wall_s, result.host.peak_rss_bytes};
    for (const ScenarioResult& from : result.scenarios) {
        RecordedScenario& to = record.scenarios.emplace_back();
        static_cast<ScenarioFigures&>(to) = from;
        to.collectives = from.collectives.size();
        for (const CollectiveResult& c : from.collectives)
            to.collectives_us += c.time_us;
        // A dispatch and its combine count as two.
        const bool alone = result.workload.type == "collective" ||
                           (result.workload.type == "experts" && from.collectives.size() == 1);
        if (alone && !from.collectives.empty()) {
            const CollectiveResult& c = from.collectives.front();
            to.collective = {
                c.algorithm,
                c.protocol,
                c.fallback,
                c.channels,
                c.ranks,
                c.size_bytes,
                c.time_us,
                c.algorithm_bandwidth_GBps,
                c.bus_bandwidth_GBps,
                c.intervals};
        }
    }
    return record;
}

std::vector<RecordColumn> record_columns() {
    using S = RecordedScenario;
    using C = RecordedCollective;
    std::vector<RecordColumn> columns{own("scenario", &S::name), own("overlap", &S::overlap)};
    for (const Figure& figure : kFigures)
        columns.push_back(of_figure(figure));
    for (const Figure& figure : kFigures)
        if (figure.has_interval)
            add_ends(columns, figure.key, IntervalsOf::kScenario);
    for (const char* key : {"time_us", "algorithm_bandwidth_GBps", "bus_bandwidth_GBps"})
        add_ends(columns, key, IntervalsOf::kCollective);
    columns.push_back(of_basis());
    for (const SlowedPart& part : kSlowedParts)
        for (const Cause& cause : kCauses)
            columns.push_back(of_cause(part, cause));
    columns.push_back(own("collectives", &S::collectives));
    columns.push_back(own("collectives_us", &S::collectives_us));
    columns.push_back(own("events", &S::events));
    columns.push_back(of_collective("ran_algorithm", &C::algorithm));
    columns.push_back(of_collective("ran_protocol", &C::protocol));
    columns.push_back(of_collective("fallback", &C::fallback));
    columns.push_back(of_collective("ran_channels", &C::channels));
    columns.push_back(of_collective("ran_ranks", &C::ranks));
    columns.push_back(of_collective("size_bytes", &C::size_bytes));
    columns.push_back(of_collective("time_us", &C::time_us));
    columns.push_back(of_collective("algorithm_bandwidth_GBps", &C::algorithm_bandwidth_GBps));
    columns.push_back(of_collective("bus_bandwidth_GBps", &C::bus_bandwidth_GBps));
    return columns;
}

std::string encode(const RunRecord& record) {
    const std::vector<RecordColumn> columns = record_columns();
    Json scenarios = Json::array();
    for (const RecordedScenario& scenario : record.scenarios)
        scenarios.push_back(scenario_json(scenario, columns));
    const Json json{record.digest,      record.exit_code,          record.error,
                    record.machine,     std::move(scenarios),      record.host.name,
                    record.host.wall_s, record.host.peak_rss_bytes};
    std::string bytes;
    Json::to_msgpack(json, bytes);
    return bytes;
}

RunRecord decode_record(std::string_view bytes) {
    try {
        const Json json = Json::from_msgpack(bytes.begin(), bytes.end());
        RunRecord record;
        record.digest = json.at(0).get<std::string>();
        record.exit_code = json.at(1);
        record.error = json.at(2).get<std::string>();
        record.machine = json.at(3).get<std::string>();
        const std::vector<RecordColumn> columns = record_columns();
        for (const Json& values : json.at(4)) {
            RecordedScenario& scenario = record.scenarios.emplace_back();
            for (std::size_t i = 0; i < columns.size(); ++i)
                columns[i].set(scenario, values.at(i));
        }
        record.host = {json.at(5).get<std::string>(), json.at(6), json.at(7)};
        return record;
    } catch (const Json::exception& error) {
        throw std::logic_error(std::string("a worker's record is not whole: ") + error.what());
    }
}

}  // namespace switchfold
