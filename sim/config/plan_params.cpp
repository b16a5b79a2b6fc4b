// SPDX-License-Identifier: Apache-2.0
#include "sim/config/plan_params.h"

#include "core/json.h"

namespace switchfold {

namespace {
constexpr const char* kExpectedPlan =
    "\"auto\", \"equal\", \"planner\", \"replicated\" or an array of the first layer "
    "of each stage, by name or number";
}

void read_value(const Cursor& c, DivisionParams& out) {
    constexpr const char* kShares = "\"equal\", \"balanced\" or an array of samples by replica";
    out = {};
    if (c.value->is_string()) {
        const std::string word = c.value->get<std::string>();
        out.balanced = word == "balanced";
        if (!out.balanced && word != "equal")
            fail_type(c, kShares);
        return;
    }
    if (!c.value->is_array() || c.value->empty()) {
        fail_type(c, kShares);
        return;
    }
    constexpr std::uint64_t kMost = 1U << 20U;
    for (const Json& item : *c.value) {
        if (item.is_number_unsigned() && item.get<std::uint64_t>() <= kMost)
            out.samples.push_back(item.get<std::uint32_t>());
        else
            fail_type(c, kShares);
    }
}

OrderedJson write_value(const DivisionParams& value) {
    if (value.samples.empty())
        return value.balanced ? "balanced" : "equal";
    return value.samples;
}

OrderedJson SchemaOf<DivisionParams>::make() {
    return {
        {"title", "word or array"},
        {"anyOf", OrderedJson::array(
                      {{{"enum", {"equal", "balanced"}}},
                       {{"type", "array"},
                        {"items", {{"type", "integer"}, {"minimum", 0}}},
                        {"minItems", 1}}})}};
}

void read_value(const Cursor& c, PartitionParams& out) {
    out = {};
    if (c.value->is_string()) {
        const std::string word = c.value->get<std::string>();
        out.equal = word == "equal";
        out.planner = word == "planner";
        out.replicated = word == "replicated";
        if (!out.equal && !out.planner && !out.replicated && word != "auto")
            fail_type(c, kExpectedPlan);
        return;
    }
    if (!c.value->is_array() || c.value->empty()) {
        fail_type(c, kExpectedPlan);
        return;
    }
    for (const Json& item : *c.value) {
        if (item.is_string())
            out.first.push_back(item.get<std::string>());
        else if (item.is_number_unsigned())
            out.first.push_back(std::to_string(item.get<std::uint64_t>()));
        else
            fail_type(c, kExpectedPlan);
    }
}

OrderedJson write_value(const PartitionParams& value) {
    if (value.first.empty())
        return value.equal        ? "equal"
               : value.planner    ? "planner"
               : value.replicated ? "replicated"
                                  : "auto";
    return value.first;
}

OrderedJson SchemaOf<PartitionParams>::make() {
    return {
        {"title", "word or array"},
        {"anyOf", OrderedJson::array(
                      {{{"enum", {"auto", "equal", "planner", "replicated"}}},
                       {{"type", "array"},
                        {"items", {{"type", {"string", "integer"}}, {"minimum", 0}}},
                        {"minItems", 1}}})}};
}

}  // namespace switchfold
