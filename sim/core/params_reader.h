// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/json.h"
#include "sim/core/params.h"
#include "sim/core/units.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace switchfold {

/// What reading one file collects: problems, and overrides that are still to be used.
struct ReadState {
    std::vector<Problem> problems;
    std::vector<Override> overrides;
    std::vector<bool> used;
};

/// A JSON value, the file and pointer it stands at, and its pointer seen from the root file (for overrides).
struct Cursor {
    const Json* value = nullptr;
    std::filesystem::path file;
    std::string pointer;
    std::string root_pointer;
    ReadState* state = nullptr;

    void fail(std::string message) const;
    [[nodiscard]] Cursor child(std::string_view key, const Json& at) const;
    [[nodiscard]] Cursor item(std::size_t index) const;
};

void read_value(const Cursor& c, bool& out);
void read_value(const Cursor& c, std::uint32_t& out);
void read_value(const Cursor& c, std::uint64_t& out);
void read_value(const Cursor& c, std::int32_t& out);
void read_value(const Cursor& c, double& out);
void read_value(const Cursor& c, std::string& out);
void read_value(const Cursor& c, Time& out);
void read_value(const Cursor& c, Bytes& out);
void read_value(const Cursor& c, Bandwidth& out);
void read_value(const Cursor& c, Frequency& out);

/// Applies the overrides that point into this value. \returns the value to read.
[[nodiscard]] Json apply_overrides(const Json& value, const std::string& root_pointer, ReadState& state);
void report_unknown_keys(const Cursor& c, std::span<const std::string_view> known);
[[nodiscard]] std::string out_of_range(const Json& value, const std::string& low, const std::string& high);

template <class T>
std::string bound_text(const T& value) {
    if constexpr (std::is_arithmetic_v<T>)
        return fmt::format("{}", value);
    else
        return to_string(value);
}

template <Params P>
void read_value(const Cursor& c, P& out);
template <NamedEnum E>
void read_value(const Cursor& c, E& out);
template <class T>
void read_value(const Cursor& c, std::optional<T>& out);
template <class T>
void read_value(const Cursor& c, std::vector<T>& out);
template <class T>
void read_value(const Cursor& c, std::map<std::string, T>& out);
template <class... T>
void read_value(const Cursor& c, std::variant<T...>& out);
template <class P>
void read_value(const Cursor& c, PathOr<P>& out);

template <class P, class F>
void read_field(const Cursor& c, P& out, const F& f, bool tagged) {
    static_cast<void>(tagged);
    const auto found = c.value->find(std::string(f.name));
    if (found == c.value->end()) {
        if (f.is_required)
            c.child(f.name, *c.value).fail("is missing; expected it here");
        return;
    }
    const Cursor at = c.child(f.name, *found);
    const std::size_t before = c.state->problems.size();
    read_value(at, out.*(f.member));
    using B = std::remove_cvref_t<decltype(f.bounds)>;
    if constexpr (!std::is_same_v<B, NoBounds>) {
        const auto& value = out.*(f.member);
        if (c.state->problems.size() == before && (value < f.bounds.min || f.bounds.max < value))
            at.fail(out_of_range(
                *found, bound_text(f.bounds.min), bound_text(f.bounds.max)));
    }
}

/// Reads the fields of P; `tagged` allows the key "type" that chose P among a variant's alternatives.
template <Params P>
void read_fields(const Cursor& c, P& out, bool tagged) {
    if (!c.value->is_object()) {
        c.fail(fmt::format("is {}; expected an object", c.value->type_name()));
        return;
    }
    const std::size_t before = c.state->problems.size();
    std::vector<std::string_view> known;
    if (tagged)
        known.emplace_back("type");
    std::apply(
        [&](const auto&... f) {
            (known.push_back(f.name), ...);
            (read_field(c, out, f, tagged), ...);
        },
        P::fields());
    report_unknown_keys(c, known);
    if constexpr (requires(const ParamChecker& checker) { out.check(const_cast<ParamChecker&>(checker)); }) {
        if (c.state->problems.size() == before) {
            ParamChecker checker;
            out.check(checker);
            for (const auto& [pointer, message] : checker.found())
                c.state->problems.push_back({c.file.string(), c.pointer + pointer, message});
        }
    }
}

template <Params P>
void read_value(const Cursor& c, P& out) {
    read_fields(c, out, false);
}

template <NamedEnum E>
void read_value(const Cursor& c, E& out) {
    std::vector<std::string_view> names;
    for (const auto& [value, name] : EnumNames<E>::kNames) {
        if (c.value->is_string() && c.value->template get_ref<const std::string&>() == name) {
            out = value;
            return;
        }
        names.push_back(name);
    }
    c.fail(fmt::format("is {}; expected one of: {}", c.value->dump(), fmt::join(names, ", ")));
}

template <class T>
void read_value(const Cursor& c, std::optional<T>& out) {
    if (c.value->is_null()) {
        out.reset();
        return;
    }
    T value{};
    read_value(c, value);
    out = std::move(value);
}

template <class T>
void read_value(const Cursor& c, std::vector<T>& out) {
    if (!c.value->is_array()) {
        c.fail(fmt::format("is {}; expected an array", c.value->type_name()));
        return;
    }
    out.clear();
    for (std::size_t i = 0; i < c.value->size(); ++i) {
        T value{};
        read_value(c.item(i), value);
        out.push_back(std::move(value));
    }
}

template <class T>
void read_value(const Cursor& c, std::map<std::string, T>& out) {
    if (!c.value->is_object()) {
        c.fail(fmt::format("is {}; expected an object", c.value->type_name()));
        return;
    }
    out.clear();
    for (const auto& [key, value] : c.value->items())
        read_value(c.child(key, value), out[key]);
}

template <class... T>
void read_value(const Cursor& c, std::variant<T...>& out) {
    const std::vector<std::string_view> names{T::kType...};
    const bool object = c.value->is_object();
    const auto type = object ? c.value->find("type") : c.value->end();
    if (!object || type == c.value->end() || !type->is_string()) {
        c.fail(fmt::format(
            "has no \"type\"; expected an object with one of: {}", fmt::join(names, ", ")));
        return;
    }
    const auto& wanted = type->template get_ref<const std::string&>();
    bool found = false;
    const auto attempt = [&]<class A>(std::type_identity<A>) {
        if (!found && wanted == A::kType) {
            found = true;
            A value{};
            read_fields(c, value, true);
            out = std::move(value);
        }
    };
    (attempt(std::type_identity<T>{}), ...);
    if (!found) {
        const std::string hint = nearest(wanted, names);
        c.child("type", *type).fail(fmt::format(
            "unknown type \"{}\"{}; expected one of: {}",
            wanted,
            hint.empty() ? "" : fmt::format(", did you mean \"{}\"?", hint),
            fmt::join(names, ", ")));
    }
}

template <class P>
void read_value(const Cursor& c, PathOr<P>& out) {
    if (!c.value->is_string()) {
        read_value(c, out.value);
        return;
    }
    const std::filesystem::path written = c.value->template get<std::string>();
    out.path = written.is_absolute() ? written : (c.file.parent_path() / written).lexically_normal();
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(out.path, ignored)) {
        c.fail(fmt::format("names the file {}, which is not there; expected a JSON file", out.path.string()));
        return;
    }
    try {
        const Json loaded = apply_overrides(load_json(out.path), c.root_pointer, *c.state);
        read_value(Cursor{&loaded, out.path, "", c.root_pointer, c.state}, out.value);
    } catch (const ConfigError& error) {
        c.state->problems.insert(
            c.state->problems.end(), error.problems().begin(), error.problems().end());
    }
}

/// Throws what `state` collected; an override that reached nothing is an error too.
void throw_problems(ReadState& state);

template <Params P>
P read_params(const Json& json, const std::filesystem::path& file, std::span<const Override> overrides = {}) {
    ReadState state;
    state.overrides.assign(overrides.begin(), overrides.end());
    state.used.assign(overrides.size(), false);
    const Json value = apply_overrides(json, "", state);
    P out{};
    read_value(Cursor{&value, file, "", "", &state}, out);
    throw_problems(state);
    return out;
}

template <Params P>
P read_params_file(const std::filesystem::path& path, std::span<const Override> overrides = {}) {
    return read_params<P>(load_json(path), path, overrides);
}

}  // namespace switchfold
