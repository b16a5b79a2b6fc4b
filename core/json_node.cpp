// SPDX-License-Identifier: Apache-2.0
#include "core/json_node.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace switchfold {

JsonNode JsonNode::operator[](std::string_view key) const {
    if (!has(key))
        fail(fmt::format("has no \"{}\"; expected a result of this version", key));
    return {json_.at(std::string(key)), file_, fmt::format("{}/{}", pointer_, escape_token(key))};
}

JsonNode JsonNode::item(std::size_t index) const {
    return {json_.at(index), file_, fmt::format("{}/{}", pointer_, index)};
}

bool JsonNode::has(std::string_view key) const {
    return json_.is_object() && json_.contains(std::string(key));
}

void JsonNode::fail(std::string message) const {
    throw ConfigError(file_, pointer_, std::move(message));
}

void JsonNode::expect(bool right, std::string_view what) const {
    if (!right)
        fail(fmt::format("is {}; expected {}", json_.type_name(), what));
}

void JsonNode::expect_list() const {
    if (!json_.is_array())
        fail("is not a list; expected a result of this version");
}

void JsonNode::to(std::string& value) const {
    expect(json_.is_string(), "a string");
    value = json_.get<std::string>();
}

void JsonNode::to(bool& value) const {
    expect(json_.is_boolean(), "true or false");
    value = json_.get<bool>();
}

void JsonNode::to(double& value) const {
    value = std::numeric_limits<double>::quiet_NaN();
    if (json_.is_null())
        return;
    expect(json_.is_number(), "a number");
    value = json_.get<double>();
}

void JsonNode::to(std::uint64_t& value) const {
    expect(json_.is_number_unsigned(), "a whole number");
    value = json_.get<std::uint64_t>();
}

void JsonNode::to(std::uint32_t& value) const {
    expect(
        json_.is_number_unsigned() && json_.get<std::uint64_t>() <= UINT32_MAX,
        "a whole number of 32 bits");
    value = json_.get<std::uint32_t>();
}

}  // namespace switchfold
