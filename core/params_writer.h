// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/boxed.h"
#include "core/json.h"
#include "core/params.h"
#include "core/params_alternative.h"
#include "core/units.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace switchfold {

// Writes the effective configuration: every field, in order of declaration.

template <class T>
requires std::is_arithmetic_v<T> OrderedJson write_value(const T& value) {
    return value;
}
inline OrderedJson write_value(const std::string& value) {
    return value;
}
template <class Tag>
OrderedJson write_value(const Quantity<Tag>& value) {
    return to_string(value);
}
template <NamedEnum E>
OrderedJson write_value(const E& value) {
    return std::string(enum_name(value));
}
template <Params P>
OrderedJson write_value(const P& value);
template <class T>
OrderedJson write_value(const std::optional<T>& value) {
    return value ? write_value(*value) : OrderedJson(nullptr);
}
template <class T>
OrderedJson write_value(const Boxed<T>& value) {
    return value ? write_value(*value) : OrderedJson(nullptr);
}
template <class T>
OrderedJson write_value(const std::vector<T>& values) {
    OrderedJson out = OrderedJson::array();
    for (const T& value : values)
        out.push_back(write_value(value));
    return out;
}
template <class T>
OrderedJson write_value(const std::map<std::string, T>& values) {
    OrderedJson out = OrderedJson::object();
    for (const auto& [key, value] : values)
        out[key] = write_value(value);
    return out;
}
template <class... T>
OrderedJson write_value(const std::variant<T...>& value) {
    return std::visit(
        [](const auto& v) {
            OrderedJson out{{"type", std::string(std::remove_cvref_t<decltype(v)>::kType)}};
            out.update(write_value(v));
            return out;
        },
        value);
}
template <class P>
OrderedJson write_value(const PathOr<P>& value) {
    return write_value(value.value);
}
template <Params P>
OrderedJson write_value(const P& value) {
    OrderedJson out = OrderedJson::object();
    for_each_of(P::fields(), [&](const auto& f) {
        // A study's knob that nobody has turned leaves no trace.
        if constexpr (requires {
                          (value.*(f.member)).has_value();
                          P::kLeavesOutAbsent;
                      })
            if (!(value.*(f.member)).has_value())
                return;
        out[std::string(f.name)] = write_value(value.*(f.member));
    });
    // Only what a file may give together.
    if constexpr (WithAlternative<P>) {
        constexpr Alternative kChosen = P::kAlternative;
        if (out[std::string(kChosen.instead)].empty())
            out.erase(std::string(kChosen.instead));
        else
            for_each_of(P::fields(), [&](const auto& f) {
                if (kChosen.replaces(f.name))
                    out.erase(std::string(f.name));
            });
    }
    return out;
}

/// A bound as shown in messages and tables.
template <class T>
std::string bound_text(const T& value) {
    if constexpr (std::is_arithmetic_v<T>)
        return fmt::format("{}", value);
    else
        return to_string(value);
}

}  // namespace switchfold
