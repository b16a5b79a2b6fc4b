// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/boxed.h"
#include "core/params.h"
#include "core/params_alternative.h"
#include "core/params_cursor.h"
#include "core/params_writer.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace switchfold {

// Readers of all types are declared before any is defined, because they call each other.
template <Params P>
void read_value(const Cursor& c, P& out);
template <NamedEnum E>
void read_value(const Cursor& c, E& out);
template <class T>
void read_value(const Cursor& c, std::optional<T>& out);
template <class T>
void read_value(const Cursor& c, Boxed<T>& out);
template <class T>
void read_value(const Cursor& c, std::vector<T>& out);
template <class T>
void read_value(const Cursor& c, std::map<std::string, T>& out);
template <class... T>
void read_value(const Cursor& c, std::variant<T...>& out);
template <class P>
void read_value(const Cursor& c, PathOr<P>& out);

template <class T, class B>
void check_bounds(const Cursor& c, const T& value, const Bounds<B>& bounds) {
    if (value < bounds.min || bounds.max < value)
        fail_range(c, bound_text(bounds.min), bound_text(bounds.max));
}
template <class T, class B>
void check_bounds(const Cursor& c, const std::optional<T>& value, const Bounds<B>& bounds) {
    if (value)
        check_bounds(c, *value, bounds);
}
template <class T, class B>
void check_bounds(const Cursor& c, const std::vector<T>& values, const Bounds<B>& bounds) {
    for (std::size_t i = 0; i < values.size(); ++i)
        check_bounds(c.item(i), values[i], bounds);
}

/// The key that is given in place of this field, if any.
template <class P>
constexpr std::string_view replacement_of(std::string_view field) {
    if constexpr (WithAlternative<P>)
        return P::kAlternative.replaces(field) ? P::kAlternative.instead : std::string_view();
    else
        return {};
}

template <class P, class F>
void read_field(const Cursor& c, P& out, const F& f) {
    const WrittenKey written = written_key(c, f.name, f.old_name);
    const std::string_view instead = replacement_of<P>(f.name);
    const bool replaced = !instead.empty() && c.value->contains(std::string(instead));
    if (written.value == nullptr) {
        if (f.is_required && !c.over_base && !replaced)
            c.child(f.name, *c.value)
                .fail(
                    instead.empty() ? "is missing; expected it here"
                                    : fmt::format("is missing; expected it here, or {}", instead));
        return;
    }
    const Cursor at = c.child(written.name, *written.value);
    if (replaced) {
        at.fail(fmt::format("is given beside {}; expected one of the two", instead));
        return;
    }
    const std::size_t before = c.state->problems.size();
    read_value(at, out.*(f.member));
    if constexpr (!std::is_same_v<decltype(F::bounds), NoBounds>)
        if (c.state->problems.size() == before)
            check_bounds(at, out.*(f.member), f.bounds);
}

/// Reads the fields of P. `type` is the key, if any, that selected P among a variant's
/// alternatives.
template <Params P>
void read_fields(const Cursor& c, P& out, std::span<const std::string_view> type = {}) {
    if (!c.value->is_object()) {
        fail_type(c, "an object");
        return;
    }
    const std::size_t before = c.state->problems.size();
    std::vector<std::string_view> known(type.begin(), type.end());
    P::fields()([&](const auto&... f) {
        (known.push_back(f.name), ...);
        // Former names are known where they are given, and never suggested.
        ((!f.old_name.empty() && c.value->contains(std::string(f.old_name))
              ? known.push_back(f.old_name)
              : void()),
         ...);
        (read_field(c, out, f), ...);
    });
    report_unknown_keys(c, known);
    if constexpr (Checked<P>) {
        if (c.state->problems.size() != before)
            return;
        ParamChecker checker;
        out.check(checker);
        for (const auto& [pointer, message] : checker.found())
            c.at(pointer, *c.value).fail(message);
    } else {
        static_assert(
            !requires { &P::check; }, "expected void check(ParamChecker&) const");
    }
}

template <Params P>
void read_value(const Cursor& c, P& out) {
    read_fields(c, out);
}

template <NamedEnum E>
void read_value(const Cursor& c, E& out) {
    if (!c.value->is_string()) {
        fail_type(c, "a string");
        return;
    }
    const auto& word = c.value->get_ref<const std::string&>();
    std::vector<std::string_view> names;
    for (const auto& [value, name] : EnumNames<E>::kNames) {
        if (word == name) {
            out = value;
            return;
        }
        names.push_back(name);
    }
    fail_unknown(c, fmt::format("value {}", shown(*c.value)), word, names);
}

/// Reads an optional value, in a std::optional or in a Boxed.
template <class Optional>
void read_optional(const Cursor& c, Optional& out) {
    if (c.value->is_null()) {
        out.reset();
        return;
    }
    if (c.over_base && out)
        read_value(c, *out);
    else
        read_value(c.afresh(), out.emplace());
}
template <class T>
void read_value(const Cursor& c, std::optional<T>& out) {
    read_optional(c, out);
}
template <class T>
void read_value(const Cursor& c, Boxed<T>& out) {
    read_optional(c, out);
}

template <class T>
void read_value(const Cursor& c, std::vector<T>& out) {
    if (!c.value->is_array()) {
        fail_type(c, "an array");
        return;
    }
    out.clear();
    for (std::size_t i = 0; i < c.value->size(); ++i) {
        T value{};
        read_value(c.item(i).afresh(), value);
        out.push_back(std::move(value));
    }
}

template <class T>
void read_value(const Cursor& c, std::map<std::string, T>& out) {
    if (!c.value->is_object()) {
        fail_type(c, "an object");
        return;
    }
    out.clear();
    for (const auto& [key, value] : c.value->items())
        if (key != "$source")
            read_value(c.child(key, value).afresh(), out[key]);
    if (const auto source = c.value->find("$source"); source != c.value->end()) {
        std::vector<std::string_view> keys;
        for (const auto& [key, value] : out)
            keys.push_back(key);
        report_source(c.child("$source", *source), keys);
    }
}

template <class... T>
void read_value(const Cursor& c, std::variant<T...>& out) {
    static constexpr std::string_view kKey = "type";
    const std::vector<std::string_view> names{T::kType...};
    if (!c.value->is_object()) {
        fail_type(c, fmt::format("an object whose \"type\" is one of: {}", fmt::join(names, ", ")));
        return;
    }
    const auto type = c.value->find(std::string(kKey));
    const auto fits = [&]<class A>(const A&) {
        return type == c.value->end() || *type == A::kType;
    };
    if (c.over_base && std::visit(fits, out)) {
        std::visit([&](auto& held) { read_fields(c, held, {&kKey, 1}); }, out);
        return;
    }
    const Cursor at = c.child(kKey, type == c.value->end() ? *c.value : *type);
    if (type == c.value->end()) {
        at.fail(fmt::format("is missing; expected one of: {}", fmt::join(names, ", ")));
        return;
    }
    if (!type->is_string()) {
        fail_type(at, fmt::format("one of: {}", fmt::join(names, ", ")));
        return;
    }
    const auto& wanted = type->template get_ref<const std::string&>();
    const auto attempt = [&]<class A>(std::type_identity<A>) {
        if (wanted != A::kType)
            return false;
        read_fields(c.afresh(), out.template emplace<A>(), {&kKey, 1});
        return true;
    };
    if (!(attempt(std::type_identity<T>{}) || ...))
        fail_unknown(at, fmt::format("type {}", shown(*type)), wanted, names);
}

/// Reads an object with "$base": it holds only the differences from the value that the path names.
template <class P>
void read_over_base(const Cursor& c, P& out) {
    const Json& path = (*c.value)[std::string(kBaseKey)];
    const Cursor at = c.child(kBaseKey, path);
    if (!path.is_string()) {
        fail_type(at, "the path of a file");
        return;
    }
    if (c.state->bases == kMostBases) {
        at.fail("forms a cycle or is nested too deep");
        return;
    }
    PathOr<P> base;
    const std::size_t before = c.state->problems.size();
    ++c.state->bases;
    read_value(at, base);
    --c.state->bases;
    if (c.state->problems.size() != before)
        return;
    out = std::move(base.value);
    Json rest = *c.value;
    rest.erase(std::string(kBaseKey));
    Cursor over = c;
    over.value = &rest;
    over.over_base = true;
    read_value(over, out);
}

template <class P>
void read_value(const Cursor& c, PathOr<P>& out) {
    if (!c.value->is_string()) {
        if (!c.value->is_object())
            fail_type(c, "an object, or the path of the file that holds it");
        else if (c.value->contains(std::string(kBaseKey)))
            read_over_base(c, out.value);
        else
            read_value(c, out.value);
        return;
    }
    const auto [file, pointer] = named_value(c);
    out.path = file;
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
        c.state->unread.push_back(c.root_pointer);
        c.fail(fmt::format(
            "names the file {}, which does not exist; expected a JSON file", file.string()));
        return;
    }
    Json loaded;
    try {
        loaded = load_json(file);
    } catch (const ConfigError& error) {
        c.state->unread.push_back(c.root_pointer);
        c.state->problems.insert(
            c.state->problems.end(), error.problems().begin(), error.problems().end());
        return;
    }
    const Json* named = find_value(loaded, pointer);
    if (named == nullptr) {
        c.state->unread.push_back(c.root_pointer);
        c.fail(fmt::format(
            "names {} in {}, which does not exist; expected a value of that file", pointer,
            file.string()));
        return;
    }
    const Json value = apply_overrides(*named, c.root_pointer, *c.state);
    const Cursor at{&value, file, pointer, c.root_pointer, c.state, c.root_pointer.size()};
    if (value.is_string()) {
        fail_type(at, "an object, not the path of another file");
        return;
    }
    PathOr<P> there;
    read_value(at, there);
    out.value = std::move(there.value);
}

/// Reads P from JSON out of `file`, after applying the overrides. Throws ConfigError with all
/// problems found. Notes of the reading are added to `notes`.
template <Params P>
P read_params(
    const Json& json, const std::filesystem::path& file, std::span<const Override> overrides = {},
    std::vector<std::string>* notes = nullptr) {
    ReadState state;
    for (const Override& change : overrides)
        state.overrides.push_back({change, false, {}});
    const Json value = apply_overrides(json, "", state);
    P out{};
    const Cursor root{&value, file, "", "", &state};
    if (value.is_object() && value.contains(std::string(kBaseKey)))
        read_over_base(root, out);
    else
        read_value(root, out);
    throw_problems(state);
    if (notes != nullptr)
        notes->insert(notes->end(), state.notes.begin(), state.notes.end());
    return out;
}

template <Params P>
P read_params_file(const std::filesystem::path& path, std::span<const Override> overrides = {}) {
    return read_params<P>(load_json(path), path, overrides);
}

}  // namespace switchfold
