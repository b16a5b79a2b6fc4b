// SPDX-License-Identifier: Apache-2.0
#include "app/run_report.h"

#include "app/run_explorer.h"
#include "core/csv.h"
#include "core/units.h"
#include "sim/config/device_params.h"
#include "sim/config/parameter_units.h"
#include "sim/kinds/kinds.h"
#include "sim/output/figures.h"
#include "sim/output/packed_text.h"
#include "sim/output/result.h"
#include "sim/output/result_reader.h"
#include "sim/output/schedule_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace switchfold {

namespace {

constexpr std::size_t kMostCharts = 12;  // per kind: more would make the page too long

double number(const CsvRecord& row, std::string_view column) {
    return std::strtod(row[column].c_str(), nullptr);
}

/// A bar of the page's timeline.
struct Bar {
    std::string track;
    std::string name;
    double start = 0;
    double duration = 0;
    double isolated = 0;  ///< 0 for collectives, which have none
};

/// Rank 0's kernels and collectives in a scenario, by start.
std::vector<Bar> bars_of(const CsvTable& kernels, const OrderedJson& scenario) {
    std::vector<Bar> bars;
    const std::string name = scenario.at("name").get<std::string>();
    for (const CsvRecord& row : kernels.records)
        if (row["rank"] == "0" && row["scenario"] == name)
            bars.push_back(
                {"stream " + row["stream"], row["name"], number(row, "start_us"),
                 number(row, "duration_us"), number(row, "isolated_us")});
    for (const OrderedJson& collective : scenario.at("collectives")) {
        const double start = collective.at("start_us");
        const double end =
            collective.at("ready_us").get<double>() + collective.at("time_us").get<double>();
        bars.push_back({"collectives", collective.at("name"), start, end - start, 0});
    }
    std::stable_sort(
        bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.start < b.start; });
    return bars;
}

double lost(const Bar& bar) {
    return bar.isolated > 0 ? bar.duration - bar.isolated : 0;
}

/// The window, a fiftieth of the time long, whose kernels lost most time.
OrderedJson worst_stretch(const std::vector<Bar>& bars, const std::string& scenario) {
    OrderedJson out{{"scenario", scenario}, {"rank", 0},      {"start_us", 0.0},
                    {"end_us", 0.0},        {"lost_us", 0.0}, {"bars", OrderedJson::array()}};
    if (bars.empty())
        return out;
    double end = 0;
    for (const Bar& bar : bars)
        end = std::max(end, bar.start + bar.duration);
    constexpr double kShare = 0.02;
    const double width = std::max(end * kShare, 1.0);
    double best = -1;
    double sum = 0;
    std::size_t from = 0;
    for (const Bar& bar : bars) {
        sum += lost(bar);
        while (bars[from].start < bar.start - width)
            sum -= lost(bars[from++]);
        if (sum > best) {
            best = sum;
            out["start_us"] = bars[from].start;
            out["end_us"] = bars[from].start + width;
        }
    }
    out["lost_us"] = best;
    constexpr std::size_t kMostBars = 400;
    for (const Bar& bar : bars)
        if (bar.start < out["end_us"] && bar.start + bar.duration > out["start_us"] &&
            out["bars"].size() < kMostBars)
            out["bars"].push_back(
                {{"track", bar.track},
                 {"name", bar.name},
                 {"start_us", bar.start},
                 {"end_us", bar.start + bar.duration},
                 {"duration_us", bar.duration},
                 {"slowdown", bar.isolated > 0 ? OrderedJson(bar.duration / bar.isolated - 1)
                                               : OrderedJson()}});
    return out;
}

/// The first scenario with overlap, else the first.
const OrderedJson& shown_scenario(const OrderedJson& scenarios) {
    for (const OrderedJson& scenario : scenarios)
        if (scenario.at("overlap").get<bool>())
            return scenario;
    return scenarios.at(0);
}

/// Kernels of the first scenario's rank 0 by name, those with most time first.
OrderedJson kernel_names(const CsvTable& kernels, const std::string& scenario) {
    struct Sum {
        std::string kernel_class;
        std::uint64_t kernels = 0;
        double isolated = 0;
        double bytes = 0;
        double flops = 0;
    };
    std::map<std::string, Sum> sums;
    for (const CsvRecord& row : kernels.records) {
        if (row["rank"] != "0" || row["scenario"] != scenario)
            continue;
        Sum& sum = sums[row["name"]];
        sum.kernel_class = row["class"];
        ++sum.kernels;
        sum.isolated += number(row, "isolated_us");
        sum.bytes += number(row, "bytes_read") + number(row, "bytes_written");
        sum.flops += number(row, "flops");
    }
    std::vector<std::pair<std::string, Sum>> order(sums.begin(), sums.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return a.second.isolated > b.second.isolated;
    });
    constexpr std::size_t kMostNames = 300;
    order.resize(std::min(order.size(), kMostNames));
    OrderedJson out = OrderedJson::array();
    for (const auto& [name, sum] : order)
        out.push_back(
            {{"name", name},
             {"class", sum.kernel_class},
             {"kernels", sum.kernels},
             {"isolated_us", sum.isolated},
             {"bytes", sum.bytes},
             {"flops", sum.flops}});
    return out;
}

/// Samples of counters, thinned out if there are too many to draw.
OrderedJson counters(const std::filesystem::path& file) {
    OrderedJson out = OrderedJson::array();
    if (!std::filesystem::exists(file))
        return out;
    const CsvTable table = read_csv(file);
    constexpr std::size_t kMostSamples = 1500;
    std::map<std::string, std::size_t> all;
    const auto key = [](const CsvRecord& row) { return row["scenario"] + '\n' + row["track"]; };
    for (const CsvRecord& row : table.records)
        ++all[key(row)];
    std::map<std::string, std::size_t> seen;
    for (const CsvRecord& row : table.records)
        if (seen[key(row)]++ % (all[key(row)] / kMostSamples + 1) == 0)
            out.push_back(
                {{"scenario", row["scenario"]},
                 {"track", row["track"]},
                 {"time_us", number(row, "time_us")},
                 {"value", number(row, "value")}});
    return out;
}

/// Passes of stages by scenario; those of single layers are not drawn. Throws ConfigError naming
/// invalid lines.
std::map<std::string, std::vector<ChartPass>> passes_of(const std::filesystem::path& file) {
    std::map<std::string, std::vector<ChartPass>> passes;
    std::vector<Problem> problems;
    const auto picoseconds = [](double us) {
        return static_cast<std::uint64_t>(std::llround(std::max(us, 0.0) * 1e6));
    };
    for (const CsvRecord& row : read_csv(file).records) {
        const auto name = parse_pass_name(row["pass"]);
        if (!name && is_pass_of_a_layer(row["pass"]))
            continue;
        if (!name) {
            problems.push_back(
                {file.string(), fmt::format("line {}", row.line),
                 fmt::format("\"{}\" is not a pass; expected one such as F3@1", row["pass"])});
            continue;
        }
        const std::uint64_t start = picoseconds(number(row, "start_us"));
        passes[row["scenario"]].push_back(
            {static_cast<std::uint32_t>(std::strtoul(row["rank"].c_str(), nullptr, 10)), *name,
             start, start + picoseconds(number(row, "duration_us"))});
    }
    if (!problems.empty())
        throw ConfigError(problems);
    return passes;
}

OrderedJson to_json(const ScheduleChart& chart, const std::string& scenario) {
    OrderedJson bars = OrderedJson::array();
    for (const ScheduleBar& bar : chart.bars)
        bars.push_back(
            {{"rank", bar.pass.rank},
             {"pass", to_string(bar.pass.name)},
             {"kind", bar.pass.name.kind},
             {"micro_batch", bar.pass.name.micro_batch},
             {"stage", bar.pass.name.stage},
             {"chunk", bar.chunk},
             {"beside", bar.beside},
             {"start_us", to_microseconds(Time(bar.pass.start_ps))},
             {"end_us", to_microseconds(Time(bar.pass.end_ps))}});
    return {{"scenario", scenario},   {"ranks", chart.ranks},   {"alike", chart.alike},
            {"others", chart.others}, {"chunks", chart.chunks}, {"cut", chart.cut},
            {"bars", std::move(bars)}};
}

/// Charts of the scenarios with passes, pipelines first.
OrderedJson schedules(const std::filesystem::path& file, const OrderedJson& scenarios) {
    std::vector<OrderedJson> charts;
    if (std::filesystem::exists(file)) {
        const auto passes = passes_of(file);
        for (const OrderedJson& scenario : scenarios) {
            const std::string name = scenario.at("name").get<std::string>();
            if (const auto found = passes.find(name); found != passes.end())
                charts.push_back(to_json(schedule_chart(found->second), name));
        }
    }
    std::stable_partition(charts.begin(), charts.end(), [](const OrderedJson& chart) {
        return chart.at("ranks").size() > 1;
    });
    const std::size_t all = charts.size();
    charts.resize(std::min(all, kMostCharts));
    return {{"left_out", all - charts.size()}, {"charts", std::move(charts)}};
}

/// The rows of a table that belong to a scenario's rank.
std::vector<const CsvRecord*>
rows_of(const CsvTable& table, const std::string& scenario, const std::string& rank) {
    std::vector<const CsvRecord*> rows;
    for (const CsvRecord& row : table.records)
        if (row["scenario"] == scenario && row["rank"] == rank)
            rows.push_back(&row);
    return rows;
}

/// Thins out rows: keeps the fullest of each group of consecutive rows.
std::vector<MemoryRow> thinned(const std::vector<MemoryRow>& rows) {
    constexpr std::size_t kMostRows = 1000;
    const std::size_t stretch = rows.size() / kMostRows + 1;
    std::vector<MemoryRow> out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i % stretch == 0)
            out.push_back(rows[i]);
        else if (rows[i].bytes.all() > out.back().bytes.all())
            out.back() = rows[i];
    }
    return out;
}

OrderedJson memory_of(const std::vector<const CsvRecord*>& records) {
    std::vector<MemoryRow> rows;
    for (const CsvRecord* record : records) {
        MemoryRow& row = rows.emplace_back();
        row.time_us = number(*record, "time_us");
        for (const MemoryClassText& memory : kMemoryClasses)
            row.bytes[memory.value] = number(*record, memory.name);
    }
    rows = thinned(rows);
    OrderedJson times = OrderedJson::array();
    OrderedJson classes = OrderedJson::array();
    for (const MemoryRow& row : rows)
        times.push_back(row.time_us);
    for (const MemoryClassText& memory : kMemoryClasses) {
        OrderedJson bytes = OrderedJson::array();
        double most = 0;
        for (const MemoryRow& row : rows) {
            bytes.push_back(row.bytes[memory.value]);
            most = std::max(most, row.bytes[memory.value]);
        }
        if (most > 0)
            classes.push_back(
                {{"name", memory.name}, {"meaning", memory.meaning}, {"bytes", std::move(bytes)}});
    }
    return {{"time_us", std::move(times)}, {"classes", std::move(classes)}};
}

/// Charts for each scenario's fullest rank.
OrderedJson memory_charts(const std::filesystem::path& file, const OrderedJson& scenarios) {
    OrderedJson charts = OrderedJson::array();
    if (!std::filesystem::exists(file))
        return charts;
    const CsvTable table = read_csv(file);
    for (const OrderedJson& scenario : scenarios) {
        const OrderedJson& peak = scenario.at("peak_memory");
        if (peak.is_null() || charts.size() == kMostCharts)
            continue;
        const std::string name = scenario.at("name").get<std::string>();
        const auto rank = peak.at("rank").get<std::uint32_t>();
        OrderedJson chart = memory_of(rows_of(table, name, std::to_string(rank)));
        chart["scenario"] = name;
        charts.push_back(std::move(chart));
    }
    return charts;
}

OrderedJson load(const std::filesystem::path& file) {
    return OrderedJson::parse(load_json(file).dump());
}

/// The columns of the page's table, in order.
OrderedJson figures_json() {
    OrderedJson out = OrderedJson::array();
    const auto is_optional = [](std::string_view key) {
        return std::any_of(std::begin(kFigures), std::end(kFigures), [&](const Figure& figure) {
            return figure.key == key && figure.is_optional();
        });
    };
    for (const Figure& figure : kFigures)
        if (figure.table_place > 0)
            out.push_back(
                {{"key", figure.key},
                 {"title", figure.title},
                 {"unit", to_string(figure.unit)},
                 {"place", figure.table_place},
                 {"shown_by", figure.shown_by},
                 {"shown_where_known", is_optional(figure.shown_by)},
                 {"decimals", figure.decimals},
                 {"pace", figure.pace},
                 {"interval", figure.has_interval},
                 {"of_gpus", figure.of_gpus}});
    return out;
}

/// Columns that are shown in their order.
OrderedJson columns_json(const std::vector<const Figure*>& figures) {
    OrderedJson out = OrderedJson::array();
    for (const Figure* figure : figures)
        out.push_back(
            {{"key", figure->key},
             {"title", figure->title},
             {"unit", to_string(figure->unit)},
             {"decimals", figure->decimals}});
    return out;
}

/// Those of the first table of runs over many steps; none if no scenario is one.
OrderedJson run_figures_json(const ExperimentResult& result) {
    std::vector<const ScenarioFigures*> scenarios;
    for (const ScenarioResult& s : result.scenarios)
        scenarios.push_back(&s);
    return columns_json(run_figures(scenarios));
}

/// Time of all exchanges of a scenario, of which the page gets the first.
double exchange_us(const OrderedJson& scenario) {
    double sum = 0;
    for (const OrderedJson& collective : scenario.at("collectives"))
        sum += collective.at("time_us").get<double>();
    return sum;
}

OrderedJson slowed_json() {
    OrderedJson out = OrderedJson::array();
    for (const SlowedPart& part : kSlowedParts)
        out.push_back({{"key", part.key}, {"title", part.title}});
    return out;
}

OrderedJson causes_json() {
    OrderedJson out = OrderedJson::array();
    for (const Cause& cause : kCauses)
        out.push_back({{"key", cause.key}, {"title", cause.title}});
    return out;
}

/// What the page asks of the kind of workload; a kind of another version is taken for a step.
OrderedJson workload_json(const std::string& type) {
    const WorkloadKind* const kind = kind_named(type);
    const KindFacts facts = kind == nullptr ? KindFacts{} : kind->facts();
    return {
        {"told", enum_name(facts.told)},
        {"on_gpus", facts.on_gpus},
        {"computes", facts.computes},
        {"has_ranks", facts.has_ranks}};
}

/// Peak memory bandwidth of the GPUs, or of the device, that compute.
Bandwidth memory_peak(const std::filesystem::path& file) {
    const Json config = load_json(file);
    const Json& system = config["system"];
    if (!system.contains("devices"))
        return parse_bandwidth(system["gpu"]["memory"]["hbm"]["peak"].get<std::string>());
    std::vector<DeviceParams> devices;
    for (const Json& device : system["devices"])
        devices.push_back(read_params<DeviceParams>(device, file));
    return find_device(devices, config["workload"]["on"].get<std::string>())
        ->processor->memory.peak;
}

}  // namespace

OrderedJson run_report_data(const std::filesystem::path& folder) {
    OrderedJson result = load(folder / "result.json");
    const CsvTable kernels = read_csv(folder / "kernels.csv");
    const OrderedJson& scenario = shown_scenario(result.at("scenarios"));
    const std::string name = scenario.at("name").get<std::string>();
    constexpr double kGiga = 1e9;
    OrderedJson data{{"kind", "run"}};
    data["workload"] = workload_json(result.at("workload").at("type").get<std::string>());
    data["stretch"] = worst_stretch(bars_of(kernels, scenario), name);
    data["kernels"] = kernel_names(kernels, name);
    data["counters"] = counters(folder / "counters.csv");
    data["schedules"] = schedules(folder / "passes.csv", result.at("scenarios"));
    data["memory"] = memory_charts(folder / "memory.csv", result.at("scenarios"));
    // The large part of a page: its browser unpacks it.
    const OrderedJson explored{
        {"map", map_data(folder)}, {"timelines", timelines_data(folder, kernels)}};
    data["explorer"] = packed(explored.dump());
    data["memory_GBps"] =
        static_cast<double>(memory_peak(folder / "effective-config.json").count()) / kGiga;
    // Thousands of collectives of a long run would make the page too large; it shows only those of
    // the first scenario.
    for (OrderedJson& one : result["scenarios"]) {
        one["exchange_us"] = exchange_us(one);
        OrderedJson& collectives = one["collectives"];
        if (collectives.size() > 1)
            collectives = OrderedJson::array({collectives[0]});
    }
    for (OrderedJson& one : result["scenarios"])
        for (const char* kind :
             {"links", "switches", "reduction_units", "gpus", "memory", "host_copies"})
            if (one.contains(kind))
                one[kind] = uses_of(one.at(kind));
    result.erase("statistics");
    data["figures"] = figures_json();
    data["causes"] = causes_json();
    data["slowed"] = slowed_json();
    data["loop_figures"] = columns_json(loop_figures());
    data["run_figures"] = run_figures_json(read_result(folder));
    data["result"] = std::move(result);
    return data;
}

}  // namespace switchfold
