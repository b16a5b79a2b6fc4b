// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/json.h"
#include "sim/core/params.h"
#include "sim/core/params_reader.h"
#include "sim/core/units.h"

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace switchfold {

// The effective configuration: every field, in the order of its declaration.

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
    std::apply(
        [&](const auto&... f) {
            ((out[std::string(f.name)] = write_value(value.*(f.member))), ...);
        },
        P::fields());
    return out;
}

// JSON Schema, draft 2020-12.

template <class T>
struct SchemaOf;

inline OrderedJson text_with_unit(std::string_view units, std::string_view example) {
    return {
        {"type", "string"},
        {"pattern", fmt::format("^[0-9]+(\\.[0-9]+)? ?({})$", units)},
        {"examples", OrderedJson::array({std::string(example)})}};
}
template <>
struct SchemaOf<Time> {
    static OrderedJson make() { return text_with_unit("ps|ns|us|ms|s", "700 ns"); }
};
template <>
struct SchemaOf<Bytes> {
    static OrderedJson make() { return text_with_unit("B|[KMGT]iB|[kMGT]B", "25 MiB"); }
};
template <>
struct SchemaOf<Bandwidth> {
    static OrderedJson make() { return text_with_unit("[kMGT]?[bB]/s|[KMG]iB/s", "450 GB/s"); }
};
template <>
struct SchemaOf<Frequency> {
    static OrderedJson make() { return text_with_unit("[kMG]?Hz", "1.83 GHz"); }
};
template <>
struct SchemaOf<bool> {
    static OrderedJson make() { return {{"type", "boolean"}}; }
};
template <>
struct SchemaOf<std::string> {
    static OrderedJson make() { return {{"type", "string"}}; }
};
template <class T>
requires std::is_arithmetic_v<T>
struct SchemaOf<T> {
    static OrderedJson make() {
        return {{"type", std::is_floating_point_v<T> ? "number" : "integer"}};
    }
};
template <NamedEnum E>
struct SchemaOf<E> {
    static OrderedJson make() {
        OrderedJson names = OrderedJson::array();
        for (const auto& [value, name] : EnumNames<E>::kNames)
            names.push_back(std::string(name));
        return {{"enum", names}};
    }
};
template <class T>
struct SchemaOf<std::optional<T>> {
    static OrderedJson make() {
        return {{"anyOf", OrderedJson::array({SchemaOf<T>::make(), {{"type", "null"}}})}};
    }
};
template <class T>
struct SchemaOf<std::vector<T>> {
    static OrderedJson make() { return {{"type", "array"}, {"items", SchemaOf<T>::make()}}; }
};
template <class T>
struct SchemaOf<std::map<std::string, T>> {
    static OrderedJson make() {
        return {{"type", "object"}, {"additionalProperties", SchemaOf<T>::make()}};
    }
};
template <class... T>
struct SchemaOf<std::variant<T...>> {
    static OrderedJson make() {
        OrderedJson choices = OrderedJson::array();
        const auto add = [&]<class A>(std::type_identity<A>) {
            OrderedJson one = SchemaOf<A>::make();
            one["properties"]["type"] = {{"const", std::string(A::kType)}};
            one["required"].push_back("type");
            choices.push_back(std::move(one));
        };
        (add(std::type_identity<T>{}), ...);
        return {{"oneOf", choices}};
    }
};
template <class P>
struct SchemaOf<PathOr<P>> {
    static OrderedJson make() {
        return {
            {"anyOf",
             OrderedJson::array(
                 {{{"type", "string"}, {"description", "Path of a file, relative to this one."}},
                  SchemaOf<P>::make()})}};
    }
};
template <Params P>
struct SchemaOf<P> {
    static OrderedJson make() {
        OrderedJson out{
            {"type", "object"},
            {"additionalProperties", false},
            {"properties", {{"$schema", {{"type", "string"}}}, {"$source", OrderedJson::object()}}},
            {"required", OrderedJson::array()}};
        const P defaults{};
        std::apply([&](const auto&... f) { (add(out, defaults, f), ...); }, P::fields());
        return out;
    }

private:
    template <class F>
    static void add(OrderedJson& out, const P& defaults, const F& f) {
        using T = std::remove_cvref_t<decltype(defaults.*(f.member))>;
        using B = std::remove_cvref_t<decltype(f.bounds)>;
        OrderedJson one = SchemaOf<T>::make();
        std::string doc(f.doc);
        if constexpr (!std::is_same_v<B, NoBounds>) {
            if constexpr (std::is_arithmetic_v<T>) {
                one["minimum"] = f.bounds.min;
                one["maximum"] = f.bounds.max;
            } else {
                doc += fmt::format(
                    " From {} to {}.", to_string(f.bounds.min), to_string(f.bounds.max));
            }
        }
        one["description"] = doc;
        if (f.is_required)
            out["required"].push_back(std::string(f.name));
        else if constexpr (!Params<T>)
            one["default"] = write_value(defaults.*(f.member));
        out["properties"][std::string(f.name)] = std::move(one);
    }
};

template <Params P>
OrderedJson schema_of(std::string_view title) {
    OrderedJson out{
        {"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", std::string(title)}};
    out.update(SchemaOf<P>::make());
    return out;
}

/// A Markdown table of P's fields and those of the structs in it, keys as dotted paths.
template <Params P>
void add_doc_rows(std::string& out, const std::string& prefix) {
    const P defaults{};
    const auto row = [&](const auto& f) {
        using T = std::remove_cvref_t<decltype(defaults.*(f.member))>;
        const std::string key = prefix + std::string(f.name);
        if constexpr (Params<T>) {
            out += fmt::format("| `{}` | | {} |\n", key, f.doc);
            add_doc_rows<T>(out, key + ".");
        } else {
            const std::string shown =
                f.is_required ? "required"
                              : fmt::format("`{}`", write_value(defaults.*(f.member)).dump());
            out += fmt::format("| `{}` | {} | {} |\n", key, shown, f.doc);
        }
    };
    std::apply([&](const auto&... f) { (row(f), ...); }, P::fields());
}

template <Params P>
std::string docs_of() {
    std::string out = "| key | default | meaning |\n|---|---|---|\n";
    add_doc_rows<P>(out, "");
    return out;
}

}  // namespace switchfold
