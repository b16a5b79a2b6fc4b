// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "sim/output/changes_text.h"
#include "sim/output/figures.h"
#include "sim/output/learning_text.h"
#include "sim/output/writers.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace switchfold {

namespace {

/// Rounds to `decimals` to hide rounding noise; null for non-finite numbers.
OrderedJson number(double value, int decimals) {
    if (!std::isfinite(value))
        return nullptr;
    const double rounded = std::strtod(fmt::format("{:.{}f}", value, decimals).c_str(), nullptr);
    return rounded == 0 ? 0.0 : rounded;  // no "-0.0"
}

/// Simulated time is a whole count of picoseconds.
OrderedJson microseconds_of(double value) {
    return number(value, 6);
}

OrderedJson share(double value) {
    return number(value, 6);
}

OrderedJson rate(double value) {
    return number(value, 6);
}

OrderedJson counts(const std::map<std::string, std::uint64_t>& values) {
    OrderedJson out = OrderedJson::object();
    for (const auto& [key, value] : values)
        out[key] = value;
    return out;
}

OrderedJson causes_json(const SlowdownByCause& causes) {
    OrderedJson out = OrderedJson::object();
    for (const Cause& cause : kCauses)
        out[std::string(cause.key)] = share(causes.*cause.member);
    return out;
}

/// Counts and bytes are whole, the others rounded.
OrderedJson statistic_json(double value, Unit unit) {
    if (unit == Unit::kCount || unit == Unit::kBytes)
        return static_cast<std::uint64_t>(value);
    return unit == Unit::kMicroseconds ? microseconds_of(value) : share(value);
}

OrderedJson rows_json(const StatisticTable& table) {
    OrderedJson out = OrderedJson::array();
    for (const StatisticTable::Row& row : table.rows) {
        OrderedJson component{{"name", row.name}};
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            component[table.columns[i].name] = statistic_json(row.values[i], table.columns[i].unit);
        out.push_back(std::move(component));
    }
    return out;
}

/// Descriptions of the statistics, common to all scenarios.
OrderedJson legend_json(const ExperimentResult& r) {
    OrderedJson out = OrderedJson::array();
    if (r.scenarios.empty())
        return out;
    for (const StatisticTable& table : r.scenarios.front().statistics) {
        OrderedJson values = OrderedJson::array();
        for (const StatisticTable::Column& column : table.columns)
            values.push_back(
                {{"name", column.name},
                 {"unit", to_string(column.unit)},
                 {"meaning", column.meaning}});
        out.push_back({{"kind", table.kind}, {"about", table.about}, {"values", values}});
    }
    return out;
}

/// Rounded as figures are, to as many decimals as the finest.
OrderedJson intervals_json(const FigureIntervals& intervals) {
    const auto end = [](const std::optional<double>& value) {
        return value ? rate(*value) : OrderedJson(nullptr);
    };
    OrderedJson out = OrderedJson::object();
    for (const auto& [key, interval] : intervals)
        out[key] = {
            {"low", end(interval.low)},
            {"high", end(interval.high)},
            {"measured", interval.measured},
            {"like", interval.like}};
    return out;
}

OrderedJson collective_json(const CollectiveResult& c) {
    OrderedJson out{
        {"name", c.name},
        {"algorithm", c.algorithm},
        {"protocol", c.protocol},
        {"fallback", c.fallback.empty() ? OrderedJson() : OrderedJson(c.fallback)},
        {"channels", c.channels},
        {"ranks", c.ranks},
        {"size_bytes", c.size_bytes},
        {"start_us", microseconds_of(c.start_us)},
        {"ready_us", microseconds_of(c.ready_us)},
        {"time_us", microseconds_of(c.time_us)},
        {"algorithm_bandwidth_GBps", rate(c.algorithm_bandwidth_GBps)},
        {"bus_bandwidth_GBps", rate(c.bus_bandwidth_GBps)}};
    if (!c.intervals.empty())
        out["intervals"] = intervals_json(c.intervals);
    return out;
}

OrderedJson classes_json(const std::vector<KernelClassResult>& classes) {
    OrderedJson out = OrderedJson::array();
    for (const KernelClassResult& c : classes)
        out.push_back(
            {{"class", c.kernel_class},
             {"kernels", c.kernels},
             {"isolated_us", microseconds_of(c.isolated_us)},
             {"slowdown", share(c.slowdown)},
             {"slowdown_by_cause", c.causes ? causes_json(*c.causes) : nullptr}});
    return out;
}

OrderedJson worst_json(const std::vector<WorstKernelResult>& kernels) {
    OrderedJson out = OrderedJson::array();
    for (const WorstKernelResult& k : kernels)
        out.push_back(
            {{"name", k.name},
             {"class", k.kernel_class},
             {"kernels", k.kernels},
             {"isolated_us", microseconds_of(k.isolated_us)},
             {"lost_us", microseconds_of(k.lost_us)}});
    return out;
}

OrderedJson peak_memory_json(const PeakMemoryResult& peak) {
    OrderedJson bytes = OrderedJson::object();
    for (const MemoryClassText& memory : kMemoryClasses)
        bytes[std::string(memory.name)] = statistic_json(peak.bytes[memory.value], Unit::kBytes);
    return {
        {"rank", peak.rank},
        {"time_us", microseconds_of(peak.time_us)},
        {"pass", peak.pass},
        {"bytes", std::move(bytes)}};
}

OrderedJson together_json(const TogetherResult& t) {
    return {
        {"iteration_us", microseconds_of(t.iteration_us)},
        {"exposed_communication_us", microseconds_of(t.exposed_communication_us)},
        {"backward_slowdown", t.backward_slowdown ? share(*t.backward_slowdown) : nullptr}};
}

OrderedJson workload_json(const WorkloadResult& w) {
    return {
        {"type", w.type},
        {"source", w.source},
        {"synthetic", w.synthetic},
        {"ranks", w.ranks},
        {"traced_ranks", w.traced_ranks},
        {"steps", w.steps},
        {"measured_iteration_us", w.measured_iteration_us
                                      ? microseconds_of(*w.measured_iteration_us)
                                      : OrderedJson(nullptr)},
        {"events_used", counts(w.used)},
        {"events_dropped", counts(w.dropped)},
        {"kernel_durations", counts(w.duration_sources)},
        {"kernel_bytes", counts(w.byte_sources)},
        {"collective_sizes", counts(w.size_sources)},
        {"notes", w.notes}};
}

OrderedJson set_json(const std::map<std::string, std::string>& set) {
    OrderedJson out = OrderedJson::object();
    for (const auto& [pointer, value] : set)
        out[pointer] = OrderedJson::parse(value);
    return out;
}

OrderedJson scenario_json(const ScenarioResult& s) {
    OrderedJson collectives = OrderedJson::array();
    for (const CollectiveResult& c : s.collectives)
        collectives.push_back(collective_json(c));
    OrderedJson out{{"name", s.name}, {"overlap", s.overlap}};
    // Present only if a scenario differs from the experiment.
    if (!s.set.empty())
        out["set"] = set_json(s.set);
    if (s.workload)
        out["workload"] = workload_json(*s.workload);
    for (const Figure& figure : kFigures) {
        const std::optional<double> value = figure.of(s);
        OrderedJson& json = out[std::string(figure.key)];
        if (value)
            json = figure.unit == Unit::kCount ? number(*value, figure.decimals)
                                               : statistic_json(*value, figure.unit);
    }
    if (!s.intervals.empty())
        out["intervals"] = intervals_json(s.intervals);
    out["peak_memory"] = s.peak_memory ? peak_memory_json(*s.peak_memory) : nullptr;
    out["slowdown_by_cause"] = s.causes ? causes_json(*s.causes) : nullptr;
    OrderedJson& by_phase = out["causes_by_phase"] = OrderedJson::object();
    for (const SlowedPart& part : kSlowedParts)
        by_phase[std::string(part.key)] = s.*part.causes ? causes_json(*(s.*part.causes)) : nullptr;
    out["with_ranks_together"] = s.together ? together_json(*s.together) : nullptr;
    out["kernel_classes"] = classes_json(s.kernel_classes);
    out["worst_kernels"] = worst_json(s.worst_kernels);
    out["notes"] = s.notes;
    if (s.learning)
        out["learning"] = learning_json(*s.learning);
    if (s.changes)
        out["run"] = changes_json(*s.changes);
    out["collectives"] = std::move(collectives);
    for (const StatisticTable& table : s.statistics)
        out[table.kind] = rows_json(table);
    return out;
}

}  // namespace

std::string to_result_json(const ExperimentResult& r) {
    OrderedJson scenarios = OrderedJson::array();
    for (const ScenarioResult& s : r.scenarios)
        scenarios.push_back(scenario_json(s));
    const OrderedJson out{
        {"schema", kResultSchema},
        {"experiment", r.experiment},
        {"version", r.version},
        {"config_digest", r.config_digest},
        {"workload", workload_json(r.workload)},
        {"scenarios", scenarios},
        {"statistics", legend_json(r)},
        {"host",
         {{"wall_s", number(r.host.wall_s, 3)},
          {"peak_rss_bytes", r.host.peak_rss_bytes},
          {"events", r.host.events}}}};
    // Names come from traces: invalid UTF-8 is replaced instead of failing.
    return out.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace switchfold
