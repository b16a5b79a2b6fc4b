// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/record_json.h"
#include "core/record_python.h"
#include "sim/output/figures.h"

#include <optional>
#include <string>
#include <variant>

namespace switchfold {

/// All figures of a scenario, as members of its record.
struct FigureMembers {
    template <class Owner, class Visit>
    void each(Owner& scenario, const Visit& visit) const {
        for (const Figure& figure : kFigures)
            std::visit([&](auto place) { visit(scenario.*place); }, figure.member);
    }
    void write(const ScenarioFigures& scenario, OrderedJson& out) const {
        for (const Figure& figure : kFigures) {
            const std::optional<double> value = figure.of(scenario);
            out[std::string(figure.key)] = value ? figure_json(figure, *value) : nullptr;
        }
    }
    void read(const JsonNode& node, ScenarioFigures& scenario) const {
        for (const Figure& figure : kFigures) {
            const JsonNode value = node[figure.key];
            if (figure.is_optional() && value.is_null())
                continue;
            double number = 0;
            value.to(number);
            figure.set(scenario, number);
        }
    }
    void describe(PythonTypes& /*types*/, PythonRecord& record) const {
        for (const Figure& figure : kFigures)
            record.always.emplace_back(
                figure.key, figure.is_optional() ? "Optional[float]" : "float");
    }

private:
    static OrderedJson figure_json(const Figure& figure, double value) {
        if (figure.unit == Unit::kCount)
            return rounded_json(value, figure.decimals);
        return number_json(value, figure.unit == Unit::kBytes ? Form::kWhole : Form::kMicro);
    }
};

/// Causes of the slowdown of each part of a scenario, under one key.
struct CausesByPhase {
    static constexpr std::string_view kKey = "causes_by_phase";

    template <class Owner, class Visit>
    void each(Owner& scenario, const Visit& visit) const {
        for (const SlowedPart& part : kSlowedParts)
            visit(scenario.*part.causes);
    }
    void write(const ScenarioFigures& scenario, OrderedJson& out) const {
        OrderedJson& by_phase = out[std::string(kKey)] = OrderedJson::object();
        for (const SlowedPart& part : kSlowedParts)
            by_phase[std::string(part.key)] = value_json(scenario.*part.causes, Form::kPlain);
    }
    void read(const JsonNode& node, ScenarioFigures& scenario) const {
        const JsonNode by_phase = node[kKey];
        for (const SlowedPart& part : kSlowedParts)
            read_json(by_phase[part.key], scenario.*part.causes);
    }
    void describe(PythonTypes& types, PythonRecord& record) const {
        record.always.emplace_back(
            kKey, "Dict[str, " + types.type<std::optional<SlowdownByCause>>() + "]");
    }
};

}  // namespace switchfold
