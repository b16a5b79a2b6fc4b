// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/chakra/node.h"

#include "workloads/readers/chakra/wire.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

namespace switchfold::chakra {

namespace {

std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}

/// Value of an AttributeProto; the case labels are its field numbers.
std::optional<Attribute> value_of(const WireField& field) {
    switch (field.number) {
    case 3:
        return field.as_double();
    case 5:
        return field.as_float();
    case 7:   // int32
    case 9:   // int64
    case 23:  // sfixed32
    case 25:  // sfixed64
        return static_cast<std::int64_t>(field.value);
    case 11:  // uint32
    case 13:  // uint64
    case 19:  // fixed32
    case 21:  // fixed64
        return field.value;
    case 15:  // sint32
    case 17:  // sint64
        return unzigzag(field.value);
    case 27:
        return field.value != 0;
    case 29:
        return std::string(field.bytes);
    default:
        return std::nullopt;
    }
}

void parse_attribute(std::string_view bytes, Node& node) {
    WireReader reader(bytes);
    std::string name;
    std::optional<Attribute> value;
    while (const auto field = reader.next()) {
        if (field->number == 1)
            name = field->bytes;
        else if (auto found = value_of(*field))
            value = std::move(found);
    }
    if (value)
        node.attributes[name] = std::move(*value);
}

std::string parse_input_values(std::string_view bytes) {
    WireReader reader(bytes);
    while (const auto field = reader.next())
        if (field->number == 1)
            return std::string(field->bytes);
    return {};
}

NodeType type_of(std::uint64_t value) {
    if (value == 0 || value > static_cast<std::uint64_t>(NodeType::kCollective))
        throw WireError(fmt::format("is of type {}; expected 1 to 7", value));
    return static_cast<NodeType>(value);
}

}  // namespace

std::uint64_t Node::number(const std::string& key, std::uint64_t otherwise) const {
    const auto found = attributes.find(key);
    if (found == attributes.end())
        return otherwise;
    if (const auto* value = std::get_if<std::uint64_t>(&found->second))
        return *value;
    if (const auto* value = std::get_if<std::int64_t>(&found->second))
        return *value < 0 ? otherwise : static_cast<std::uint64_t>(*value);
    if (const auto* value = std::get_if<bool>(&found->second))
        return *value ? 1 : 0;
    if (const auto* value = std::get_if<double>(&found->second)) {
        constexpr double kMost = 9e18;
        return *value >= 0 && *value < kMost ? static_cast<std::uint64_t>(*value) : otherwise;
    }
    const auto& text = std::get<std::string>(found->second);
    char* end = nullptr;
    const std::uint64_t parsed = std::strtoull(text.c_str(), &end, 10);
    return !text.empty() && text[0] != '-' && *end == '\0' ? parsed : otherwise;
}

std::string Node::text(const std::string& key) const {
    const auto found = attributes.find(key);
    if (found == attributes.end())
        return {};
    if (const auto* text = std::get_if<std::string>(&found->second))
        return *text;
    return fmt::format("{}", number(key, 0));
}

Node parse_node(std::string_view bytes) {
    Node node;
    WireReader reader(bytes);
    while (const auto field = reader.next()) {
        switch (field->number) {
        case 1:
            node.id = field->value;
            break;
        case 2:
            node.name = field->bytes;
            break;
        case 3:
            node.type = type_of(field->value);
            break;
        case 4:
            field->append_to(node.controls);
            break;
        case 5:
            field->append_to(node.dependencies);
            break;
        case 6:
            node.start_us = field->value;
            break;
        case 7:
            node.duration_us = field->value;
            break;
        case 8:
            node.input_values = parse_input_values(field->bytes);
            break;
        case 10:
            parse_attribute(field->bytes, node);
            break;
        default:
            break;
        }
    }
    if (node.type == NodeType::kInvalid)
        throw WireError("has no type; expected a node");
    constexpr std::uint64_t kLongestUs = 1'000'000'000'000;  // 11 days
    if (node.duration_us > kLongestUs)
        throw WireError(fmt::format("takes {} us; expected less than 11 days", node.duration_us));
    return node;
}

std::string parse_version(std::string_view bytes) {
    WireReader reader(bytes);
    std::string version;
    while (const auto field = reader.next()) {
        if (field->number == 1 && field->kind == WireField::Kind::kBytes)
            version = field->bytes;
        else if (field->number != 2)
            throw WireError("holds other fields; expected Chakra's global metadata");
    }
    return version;
}

}  // namespace switchfold::chakra
