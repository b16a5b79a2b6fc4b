// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "core/params.h"
#include "core/params_alternative.h"
#include "core/params_cursor.h"
#include "core/params_writer.h"
#include "core/schema_defs.h"
#include "core/units.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace switchfold {

template <class T>
struct SchemaOf;

/// Source of an object's numbers: one text, or one per field.
inline OrderedJson source_schema() {
    return {
        {"type", OrderedJson::array({"string", "object"})},
        {"additionalProperties", {{"type", "string"}}}};
}

inline OrderedJson
text_with_unit(std::string_view title, std::string_view units, std::string_view example) {
    return {
        {"type", "string"},
        {"title", std::string(title)},
        {"pattern", fmt::format("^[0-9]+(\\.[0-9]+)? ?({})$", units)},
        {"examples", OrderedJson::array({std::string(example)})}};
}
template <>
struct SchemaOf<Time> {
    static OrderedJson make() { return text_with_unit("time", "ps|ns|us|ms|s", "700 ns"); }
};
template <>
struct SchemaOf<Bytes> {
    static OrderedJson make() { return text_with_unit("bytes", "B|[KMGT]iB|[kMGT]B", "25 MiB"); }
};
template <>
struct SchemaOf<Bandwidth> {
    static OrderedJson make() {
        return text_with_unit("bandwidth", "[kMGT]?[bB]/s|[KMG]iB/s", "450 GB/s");
    }
};
template <>
struct SchemaOf<Frequency> {
    static OrderedJson make() { return text_with_unit("frequency", "[kMG]?Hz", "1.83 GHz"); }
};
template <>
struct SchemaOf<FlopRate> {
    static OrderedJson make() {
        return text_with_unit("floating-point operations a second", "[GT]?FLOP/s", "794 TFLOP/s");
    }
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
        if constexpr (std::is_floating_point_v<T>)
            return {{"type", "number"}};
        else
            return {
                {"type", "integer"},
                {"minimum", std::numeric_limits<T>::min()},
                {"maximum", std::numeric_limits<T>::max()}};
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
struct SchemaOf<Boxed<T>> {
    static OrderedJson make();
};
template <class T>
OrderedJson SchemaOf<Boxed<T>>::make() {
    return SchemaOf<std::optional<T>>::make();
}
template <class T>
struct SchemaOf<std::vector<T>> {
    static OrderedJson make() { return {{"type", "array"}, {"items", SchemaOf<T>::make()}}; }
};
template <class T>
struct SchemaOf<std::map<std::string, T>> {
    static OrderedJson make() {
        return {
            {"type", "object"},
            {"properties", {{"$source", source_schema()}}},
            {"additionalProperties", SchemaOf<T>::make()}};
    }
};
// Large schemas are built by functions that are instantiated in a single unit.
template <class... T>
OrderedJson make_schema(std::type_identity<std::variant<T...>>);
template <Params P>
OrderedJson make_schema(std::type_identity<P>);

template <class... T>
struct SchemaOf<std::variant<T...>> {
    static OrderedJson make() { return make_schema(std::type_identity<std::variant<T...>>{}); }
};
template <class... T>
OrderedJson make_schema(std::type_identity<std::variant<T...>> /*type*/) {
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
/// An object that holds differences from another value.
inline OrderedJson over_base_schema() {
    return {
        {"type", "object"},
        {"required", OrderedJson::array({std::string(kBaseKey)})},
        {"properties", {{std::string(kBaseKey), {{"type", "string"}}}}},
        {"description",
         "The value that the path names, with the fields beside it in place of its own."}};
}
/// Schema file, in this folder, that describes P; empty if P has none and is described in place.
template <class P>
inline constexpr std::string_view kSchemaFile{};
template <class P>
struct SchemaOf<PathOr<P>> {
    static OrderedJson make() {
        OrderedJson in_place;
        if constexpr (kSchemaFile<P>.empty())
            in_place = SchemaOf<P>::make();
        else
            in_place = {{"$ref", std::string(kSchemaFile<P>)}};
        return {
            {"anyOf",
             OrderedJson::array(
                 {{{"type", "string"},
                   {"description",
                    "Path of a file, relative to this one; FILE#/POINTER: a value in it."}},
                  over_base_schema(),
                  in_place})}};
    }
};
/// Puts a field's bounds where they apply: the number, the optional's value, the array's items.
/// JSON Schema cannot compare texts with units, so their bounds are stated in the description.
template <class T, class B>
void add_bounds(OrderedJson& schema, std::type_identity<T> /*type*/, const Bounds<B>& bounds) {
    if constexpr (std::is_arithmetic_v<T>) {
        schema["minimum"] = bounds.min;
        schema["maximum"] = bounds.max;
    }
}
template <class T, class B>
void add_bounds(
    OrderedJson& schema, std::type_identity<std::optional<T>> /*type*/, const Bounds<B>& bounds) {
    add_bounds(schema["anyOf"][0], std::type_identity<T>{}, bounds);
}
template <class T, class B>
void add_bounds(
    OrderedJson& schema, std::type_identity<std::vector<T>> /*type*/, const Bounds<B>& bounds) {
    add_bounds(schema["items"], std::type_identity<T>{}, bounds);
}

template <Params P>
struct SchemaOf<P> {
    static OrderedJson make() { return make_schema(std::type_identity<P>{}); }
};

/// Adds one field to the schema of P.
template <class P, class F>
void add_property(OrderedJson& out, const P& defaults, const F& f) {
    using T = std::remove_cvref_t<decltype(defaults.*(f.member))>;
    OrderedJson one = SchemaOf<T>::make();
    std::string doc(f.doc);
    if constexpr (!std::is_same_v<decltype(F::bounds), NoBounds>) {
        add_bounds(one, std::type_identity<T>{}, f.bounds);
        if constexpr (!std::is_arithmetic_v<decltype(f.bounds.min)>)
            doc += fmt::format(" From {} to {}.", to_string(f.bounds.min), to_string(f.bounds.max));
    }
    one["description"] = doc;
    if (f.is_required)
        out["required"].push_back(std::string(f.name));
    else if constexpr (!Params<T>)
        one["default"] = write_value(defaults.*(f.member));
    out["properties"][std::string(f.name)] = std::move(one);
}

/// What is required without `instead` only, and must not stand beside it.
inline void add_alternative(OrderedJson& out, const Alternative& chosen) {
    const OrderedJson given{{"required", OrderedJson::array({std::string(chosen.instead)})}};
    OrderedJson always = OrderedJson::array();
    OrderedJson otherwise = OrderedJson::array();
    for (const OrderedJson& name : out["required"])
        (chosen.replaces(name.get<std::string>()) ? otherwise : always).push_back(name);
    OrderedJson replaced = OrderedJson::array();
    for (const auto& [name, field] : out["properties"].items())
        if (chosen.replaces(name))
            replaced.push_back({{"required", OrderedJson::array({name})}});
    out["required"] = always;
    out["if"] = given;
    out["then"] = {{"not", {{"anyOf", replaced}}}};
    out["else"] = {{"required", otherwise}};
}

template <Params P>
OrderedJson make_schema(std::type_identity<P> /*type*/) {
    OrderedJson out{
        {"type", "object"},
        {"additionalProperties", false},
        {"properties", OrderedJson::object()},
        {"required", OrderedJson::array()}};
    const P defaults{};
    OrderedJson names = OrderedJson::array();
    const auto add_one = [&](const auto& f) {
        add_property(out, defaults, f);
        names.push_back(std::string(f.name));
    };
    for_each_of(P::fields(), add_one);
    if constexpr (WithAlternative<P>)
        add_alternative(out, P::kAlternative);
    out["properties"]["$source"] = source_schema();
    out["properties"]["$source"]["propertyNames"] = {{"enum", std::move(names)}};
    return out;
}

/// JSON Schema (draft 2020-12) of a file that holds P: a params struct or a variant of them.
template <class P>
OrderedJson schema_of(std::string_view title) {
    OrderedJson out{
        {"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", std::string(title)}};
    OrderedJson in_place = SchemaOf<P>::make();
    if constexpr (Params<P>)
        in_place["properties"]["$schema"] = {{"type", "string"}};
    out["anyOf"] = OrderedJson::array({over_base_schema(), std::move(in_place)});
    share_definitions(out);
    return out;
}

}  // namespace switchfold
