// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/input/json_fields.h"

#include "core/error.h"

#include <fmt/format.h>

namespace switchfold {

JsonFields::JsonFields(const Json& value, const std::string& file, std::string place) :
    value_(&value), file_(&file), place_(std::move(place)) {
    if (!value.is_object())
        fail(fmt::format("is {}; expected an object", shown(value)));
}

const Json* JsonFields::find(const char* key) const {
    const auto found = value_->find(key);
    return found == value_->end() || found->is_null() ? nullptr : &*found;
}

void JsonFields::fail(const char* key, std::string_view what) const {
    throw ConfigError(*file_, fmt::format("{}/{}", place_, key), std::string(what));
}

void JsonFields::fail(std::string_view what) const {
    throw ConfigError(*file_, place_, std::string(what));
}

void JsonFields::fail_expecting(
    const char* key, const Json& value, std::string_view expected) const {
    fail(key, fmt::format("is {}; expected {}", shown(value), expected));
}

void JsonFields::fail_missing(const char* key, std::string_view expected) const {
    fail(key, fmt::format("is missing; expected {}", expected));
}

std::optional<std::uint64_t> JsonFields::whole_if_any(const char* key, std::uint64_t most) const {
    const Json* const value = find(key);
    if (value == nullptr)
        return std::nullopt;
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > most)
        fail_expecting(key, *value, fmt::format("a whole number of at most {}", most));
    return value->get<std::uint64_t>();
}

std::uint64_t JsonFields::whole(const char* key, std::uint64_t most) const {
    const std::optional<std::uint64_t> value = whole_if_any(key, most);
    if (!value)
        fail_missing(key, "a whole number");
    return *value;
}

std::optional<double> JsonFields::number_if_any(const char* key, double most) const {
    const Json* const value = find(key);
    if (value == nullptr)
        return std::nullopt;
    if (!value->is_number() || !(value->get<double>() >= 0 && value->get<double>() <= most))
        fail_expecting(key, *value, fmt::format("a number from 0 to {:g}", most));
    return value->get<double>();
}

std::string JsonFields::text_if_any(const char* key) const {
    const Json* const value = find(key);
    if (value == nullptr)
        return {};
    if (!value->is_string())
        fail_expecting(key, *value, "a text");
    return value->get<std::string>();
}

std::string JsonFields::text(const char* key) const {
    std::string value = text_if_any(key);
    if (value.empty())
        fail_missing(key, "a text");
    return value;
}

std::optional<JsonFields> JsonFields::object_if_any(const char* key) const {
    const Json* const value = find(key);
    return value == nullptr
               ? std::nullopt
               : std::optional(JsonFields(*value, *file_, fmt::format("{}/{}", place_, key)));
}

JsonFields JsonFields::object(const char* key) const {
    std::optional<JsonFields> found = object_if_any(key);
    if (!found)
        fail_missing(key, "an object");
    return *std::move(found);
}

std::vector<JsonFields> JsonFields::objects(const char* key) const {
    const Json* const value = find(key);
    std::vector<JsonFields> found;
    if (value == nullptr)
        return found;
    if (!value->is_array())
        fail_expecting(key, *value, "a list");
    for (std::size_t i = 0; i < value->size(); ++i)
        found.emplace_back((*value)[i], *file_, fmt::format("{}/{}/{}", place_, key, i));
    return found;
}

}  // namespace switchfold
