// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json_node.h"
#include "core/params.h"
#include "core/record.h"

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace switchfold {

/// A number in this form; null if it is not finite.
[[nodiscard]] OrderedJson number_json(double value, Form form);
/// A number rounded to so many decimals, to hide rounding noise; null likewise.
[[nodiscard]] OrderedJson rounded_json(double value, int decimals);

template <class T>
OrderedJson value_json(const T& value, Form form);

/// A record as an object, its keys in the order of its list. `form`: of members whose form is their
/// owner's.
template <Record S>
[[nodiscard]] OrderedJson record_json(const S& record, Form form = Form::kPlain);

template <class T>
OrderedJson value_json(const std::optional<T>& value, Form form) {
    return value ? value_json(*value, form) : OrderedJson(nullptr);
}
template <class T>
OrderedJson value_json(const std::vector<T>& values, Form form) {
    OrderedJson out = OrderedJson::array();
    for (const T& value : values)
        out.push_back(value_json(value, form));
    return out;
}
template <class T, class Order>
OrderedJson value_json(const std::map<std::string, T, Order>& values, Form form) {
    OrderedJson out = OrderedJson::object();
    for (const auto& [key, value] : values)
        out[key] = value_json(value, form);
    return out;
}
template <class T>
OrderedJson value_json(const T& value, Form form) {
    if constexpr (Record<T>)
        return record_json(value, form);
    else if constexpr (std::is_floating_point_v<T>)
        return number_json(value, form);
    else if constexpr (NamedEnum<T>)
        return enum_name(value);
    else if constexpr (std::is_same_v<T, std::string>)
        return form == Form::kJsonText ? OrderedJson::parse(value) : OrderedJson(value);
    else
        return value;
}

/// Whether a member is absent: an empty text, list or map, or no value.
template <class T>
[[nodiscard]] bool is_empty(const T& value) {
    if constexpr (requires { value.empty(); })
        return value.empty();
    else if constexpr (requires { value.has_value(); })
        return !value.has_value();
    else
        return false;
}

constexpr Form form_of(Form member, Form owner) {
    return member == Form::kAsOwner ? owner : member;
}

template <Record S>
OrderedJson record_json(const S& record, Form form) {
    OrderedJson out = OrderedJson::object();
    for_each_of(RecordFields<S>::list(), [&](const auto& described) {
        if constexpr (requires { described.of(record); }) {
            const auto& value = described.of(record);
            if (!described.in_json || (described.left_out_if_empty && is_empty(value)))
                return;
            out[std::string(described.key)] =
                described.null_if_empty && is_empty(value)
                    ? OrderedJson(nullptr)
                    : value_json(value, form_of(described.form, form));
        } else {
            described.write(record, out);
        }
    });
    return out;
}

// Readers of all types are declared before any is defined, because they call each other.
template <class T>
void read_json(const JsonNode& node, T& value, Form form = Form::kPlain);
template <class T>
void read_json(const JsonNode& node, std::optional<T>& value, Form form = Form::kPlain);
template <class T>
void read_json(const JsonNode& node, std::vector<T>& values, Form form = Form::kPlain);
template <class T, class Order>
void read_json(
    const JsonNode& node, std::map<std::string, T, Order>& values, Form form = Form::kPlain);

/// Reads a record that record_json() wrote. Every key must be there but those that are left out if
/// empty. Throws ConfigError.
template <Record S>
void read_record(const JsonNode& node, S& record) {
    for_each_of(RecordFields<S>::list(), [&](const auto& described) {
        if constexpr (requires { described.of(record); }) {
            const std::string key(described.key);
            if (!described.in_json || (described.left_out_if_empty && !node.has(key)))
                return;
            const JsonNode at = node[key];
            if (!described.null_if_empty || !at.is_null())
                read_json(at, described.of(record), described.form);
        } else {
            described.read(node, record);
        }
    });
}

template <class T>
void read_json(const JsonNode& node, T& value, Form form) {
    if constexpr (Record<T>) {
        read_record(node, value);
    } else if constexpr (NamedEnum<T>) {
        std::string word;
        node.to(word);
        std::string words;
        for (const auto& [candidate, name] : EnumNames<T>::kNames) {
            if (name == word) {
                value = candidate;
                return;
            }
            words += (words.empty() ? "" : ", ") + std::string(name);
        }
        node.fail("is \"" + word + "\"; expected one of: " + words);
    } else if constexpr (std::is_same_v<T, std::string>) {
        if (form == Form::kJsonText)
            value = node.text();
        else
            node.to(value);
    } else {
        node.to(value);
    }
}
template <class T>
void read_json(const JsonNode& node, std::optional<T>& value, Form form) {
    value.reset();
    if (!node.is_null())
        read_json(node, value.emplace(), form);
}
template <class T>
void read_json(const JsonNode& node, std::vector<T>& values, Form form) {
    values.clear();
    node.for_each([&](const JsonNode& item) { read_json(item, values.emplace_back(), form); });
}
template <class T, class Order>
void read_json(const JsonNode& node, std::map<std::string, T, Order>& values, Form form) {
    values.clear();
    node.for_each_member(
        [&](const std::string& key, const JsonNode& item) { read_json(item, values[key], form); });
}

}  // namespace switchfold
