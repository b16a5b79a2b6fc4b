// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "sim/output/result_reader.h"
#include "sim/output/result_record.h"
#include "sim/output/writers.h"

#include <fmt/format.h>

#include <system_error>

namespace switchfold {

namespace {

/// Counts and bytes are whole, the others rounded.
OrderedJson statistic_json(double value, Unit unit) {
    const bool whole = unit == Unit::kCount || unit == Unit::kBytes;
    return number_json(value, whole ? Form::kWhole : Form::kMicro);
}

/// A row an object: the component's name, and a key a column.
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

void read_rows(const JsonNode& node, StatisticTable& table) {
    node[table.kind].for_each([&](const JsonNode& component) {
        StatisticTable::Row& row = table.rows.emplace_back();
        component["name"].to(row.name);
        for (const StatisticTable::Column& column : table.columns)
            component[column.name].to(row.values.emplace_back());
    });
}

}  // namespace

void ScenariosAndLegend::write(const ExperimentResult& result, OrderedJson& out) const {
    OrderedJson& scenarios = out["scenarios"] = OrderedJson::array();
    for (const ScenarioResult& scenario : result.scenarios) {
        OrderedJson one = record_json(scenario);
        for (const StatisticTable& table : scenario.statistics)
            one[table.kind] = rows_json(table);
        scenarios.push_back(std::move(one));
    }
    out["statistics"] = result.scenarios.empty()
                            ? OrderedJson::array()
                            : value_json(result.scenarios.front().statistics, Form::kPlain);
}

void ScenariosAndLegend::read(const JsonNode& node, ExperimentResult& result) const {
    const JsonNode scenarios = node["scenarios"];
    read_json(scenarios, result.scenarios);
    std::vector<StatisticTable> legend;
    read_json(node["statistics"], legend);
    for (std::size_t i = 0; i < result.scenarios.size(); ++i) {
        result.scenarios[i].statistics = legend;
        for (StatisticTable& table : result.scenarios[i].statistics)
            read_rows(scenarios.item(i), table);
    }
}

void SchemaOfResult::write(const ExperimentResult& /*result*/, OrderedJson& out) const {
    out["schema"] = kResultSchema;
}

void SchemaOfResult::read(const JsonNode& node, ExperimentResult& /*result*/) const {
    std::string schema;
    const JsonNode at = node["schema"];
    at.to(schema);
    if (schema != kResultSchema)
        at.fail(fmt::format("is \"{}\"; expected \"{}\"", schema, kResultSchema));
}

std::string to_result_json(const ExperimentResult& result) {
    // Names come from traces: invalid UTF-8 is replaced instead of failing.
    return record_json(result).dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

ExperimentResult read_result(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "result.json";
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
        throw ConfigError(
            folder.string(), "", "holds no result.json; expected the folder of a finished run");
    const Json json = load_json(path);
    const std::string file = path.string();
    ExperimentResult result;
    read_record(JsonNode(json, file, ""), result);
    return result;
}

}  // namespace switchfold
