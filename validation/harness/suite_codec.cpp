// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/suite_codec.h"

#include "core/json.h"

namespace switchfold::validation {

namespace {

OrderedJson json_of(const std::optional<double>& value) {
    return value ? OrderedJson(*value) : OrderedJson();
}

OrderedJson json_of(const intervals::Likeness& l) {
    return {l.kind,  l.operation, l.algorithm, l.generation, l.fabric,
            l.bytes, l.us,        l.ranks,     l.machines};
}

intervals::Likeness likeness_of(const OrderedJson& json) {
    return {json[0], json[1], json[2], json[3], json[4], json[5], json[6], json[7], json[8]};
}

std::optional<double> optional_of(const OrderedJson& json) {
    return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

}  // namespace

std::string encode(const SuiteResult& result) {
    OrderedJson cases = OrderedJson::array();
    for (const Case& c : result.cases)
        cases.push_back(
            {c.id, c.group, c.quantity, c.unit, c.measured, json_of(c.low), json_of(c.high),
             c.simulated, c.fitted, c.how, c.nothing, json_of(c.like), c.machine});
    OrderedJson unmatched = OrderedJson::array();
    for (const Unmatched& u : result.unmatched)
        unmatched.push_back({u.id, u.why});
    return OrderedJson{{"cases", cases}, {"unmatched", unmatched}, {"notes", result.notes}}.dump();
}

void append(const std::string& bytes, SuiteResult& suite) {
    const OrderedJson json = OrderedJson::parse(bytes);
    for (const OrderedJson& c : json["cases"])
        suite.cases.push_back(
            {c[0], c[1], c[2], c[3], c[4], optional_of(c[5]), optional_of(c[6]), c[7], c[8], c[9],
             c[10], likeness_of(c[11]), c[12]});
    for (const OrderedJson& u : json["unmatched"])
        suite.unmatched.push_back({u[0], u[1]});
    for (const OrderedJson& note : json["notes"])
        suite.notes.push_back(note);
}

}  // namespace switchfold::validation
