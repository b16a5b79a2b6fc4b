// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "validation/harness/suite.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace switchfold::validation {

namespace {

/// Rounds to nine digits: further digits are rounding noise.
OrderedJson number(double value) {
    if (!std::isfinite(value))
        return nullptr;
    const double rounded = std::strtod(fmt::format("{:.9g}", value).c_str(), nullptr);
    return rounded == 0 ? 0.0 : rounded;  // no "-0.0"
}

OrderedJson number(const std::optional<double>& value) {
    return value ? number(*value) : OrderedJson(nullptr);
}

OrderedJson verdict_json(const GroupVerdict& v) {
    OrderedJson json{
        {"group", v.group},
        {"quantity", v.quantity},
        {"cases", v.cases},
        {"judged", v.judged},
        {"error", v.judged == 0 ? OrderedJson(nullptr) : number(v.error)},
        {"limit", number(v.limit)},
        {"kept", v.kept()},
        {"standing", standing_word(v.standing)},
        {"known", v.known}};
    if (v.first)
        json["first"] = {
            {"error", number(v.first->error)},
            {"date", v.first->date},
            {"commit", v.first->commit}};
    return json;
}

/// What sim/intervals needs of a case: scripts/update_residuals reads it.
OrderedJson likeness_json(const Case& c) {
    const intervals::Likeness& l = c.like;
    return {
        {"kind", l.kind},
        {"operation", l.operation},
        {"algorithm", l.algorithm},
        {"generation", l.generation},
        {"fabric", l.fabric},
        {"bytes", number(l.bytes)},
        {"us", number(l.us)},
        {"ranks", l.ranks},
        {"machines", l.machines},
        {"machine", c.machine},
        {"log_ratio", number(log_ratio_of(c))}};
}

OrderedJson suite_json(const SuiteResult& result) {
    OrderedJson cases = OrderedJson::array();
    for (const Case& c : result.cases) {
        cases.push_back(
            {{"id", c.id},
             {"group", c.group},
             {"quantity", c.quantity},
             {"unit", c.unit},
             {"measured", number(c.measured)},
             {"low", number(c.low)},
             {"high", number(c.high)},
             {"simulated", number(c.simulated)},
             {"error", number(c.error())},
             {"fitted", c.fitted}});
        if (log_ratio_of(c))
            cases.back()["like"] = likeness_json(c);
    }
    OrderedJson groups = OrderedJson::array();
    for (const GroupSummary& g : summarise_groups(result.cases))
        groups.push_back({{"name", g.name}, {"mape", number(g.mape)}, {"cases", g.cases}});
    OrderedJson verdicts = OrderedJson::array();
    for (const GroupVerdict& v : result.groups)
        verdicts.push_back(verdict_json(v));
    OrderedJson unmatched = OrderedJson::array();
    for (const Unmatched& u : result.unmatched)
        unmatched.push_back({{"id", u.id}, {"why", u.why}});
    return {
        {"name", result.name},
        {"mape", number(mape(result.cases))},
        {"cases", std::move(cases)},
        {"groups", std::move(groups)},
        {"verdicts", std::move(verdicts)},
        {"unmatched", std::move(unmatched)}};
}

}  // namespace

std::string to_json(std::span<const SuiteResult> results) {
    OrderedJson all = OrderedJson::array();
    for (const SuiteResult& result : results)
        all.push_back(suite_json(result));
    return OrderedJson{{"suites", std::move(all)}}.dump(2) + "\n";
}

}  // namespace switchfold::validation
