// SPDX-License-Identifier: Apache-2.0
#include "core/params_cursor.h"

#include "core/named_path.h"
#include "core/text_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace switchfold {

namespace {

/// Whether the value at `pointer` is that at `parent` or lies within it.
bool within(std::string_view pointer, std::string_view parent) {
    return pointer.starts_with(parent) &&
           (pointer.size() == parent.size() || pointer[parent.size()] == '/');
}

std::string unescape(std::string_view token) {
    std::string out;
    for (std::size_t i = 0; i < token.size(); ++i) {
        if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1'))
            out += token[++i] == '0' ? '~' : '/';
        else
            out += token[i];
    }
    return out;
}

/// The pointer's first token, and the rest.
std::pair<std::string_view, std::string_view> split(std::string_view pointer) {
    pointer.remove_prefix(1);  // the slash
    const std::size_t slash = std::min(pointer.find('/'), pointer.size());
    return {pointer.substr(0, slash), pointer.substr(slash)};
}

/// Sets the value at the pointer, creating objects on the way.
/// \returns the part of the pointer below the topmost value created or replaced, or nothing if the
/// path cannot be followed; then nothing has changed.
std::optional<std::string_view> put(Json& at, std::string_view pointer, const Json& value) {
    if (pointer.empty()) {
        at = value;
        return pointer;
    }
    const auto [token, rest] = split(pointer);
    if (at.is_array()) {
        std::size_t index = 0;
        const auto [end, code] = std::from_chars(token.data(), token.data() + token.size(), index);
        if (code != std::errc{} || end != token.data() + token.size() || index >= at.size())
            return std::nullopt;
        return put(at[index], rest, value);
    }
    if (!at.is_object() && !at.is_null())
        return std::nullopt;
    const std::string key = unescape(token);
    const bool fresh = !at.contains(key);
    const auto below = put(at[key], rest, value);
    return fresh && below ? rest : below;
}

template <class T>
void read_integer(const Cursor& c, T& out) {
    using Limits = std::numeric_limits<T>;
    if (!c.value->is_number_integer()) {
        fail_type(c, "a whole number");
        return;
    }
    // nlohmann stores non-negative numbers as unsigned.
    const bool fits = c.value->is_number_unsigned()
                          ? std::in_range<T>(c.value->get<std::uint64_t>())
                          : std::in_range<T>(c.value->get<std::int64_t>());
    if (!fits) {
        fail_range(c, fmt::format("{}", Limits::min()), fmt::format("{}", Limits::max()));
        return;
    }
    out = c.value->get<T>();
}

template <class T, class Parse>
void read_quantity(const Cursor& c, T& out, Parse parse, std::string_view example) {
    if (!c.value->is_string()) {
        fail_type(c, fmt::format("a string with a unit such as \"{}\"", example));
        return;
    }
    try {
        out = parse(c.value->get_ref<const std::string&>());
    } catch (const std::invalid_argument& error) {
        c.fail(error.what());
    }
}

}  // namespace

void Cursor::fail(std::string message) const {
    // An override created a value within this file if that value lies below the place that names
    // the file.
    const bool overridden = std::any_of(
        state->overrides.begin(), state->overrides.end(), [&](const PendingOverride& o) {
            return o.used && o.made.size() > file_start && within(root_pointer, o.made);
        });
    state->problems.push_back(
        {overridden ? "--set" : file.string(), overridden ? root_pointer : pointer,
         std::move(message)});
}

Cursor Cursor::at(std::string_view tail, const Json& there) const {
    Cursor c{&there, file, pointer, root_pointer, state, file_start, over_base};
    c.pointer += tail;
    c.root_pointer += tail;
    return c;
}

Cursor Cursor::child(std::string_view key, const Json& there) const {
    std::string tail(1, '/');
    tail += escape_token(key);
    return at(tail, there);
}

Cursor Cursor::item(std::size_t index) const {
    return at(fmt::format("/{}", index), (*value)[index]);
}

void read_value(const Cursor& c, bool& out) {
    if (!c.value->is_boolean()) {
        fail_type(c, "true or false");
        return;
    }
    out = c.value->get<bool>();
}

void read_value(const Cursor& c, std::uint32_t& out) {
    read_integer(c, out);
}

void read_value(const Cursor& c, std::uint64_t& out) {
    read_integer(c, out);
}

void read_value(const Cursor& c, std::int32_t& out) {
    read_integer(c, out);
}

void read_value(const Cursor& c, double& out) {
    if (!c.value->is_number()) {
        fail_type(c, "a number");
        return;
    }
    out = c.value->get<double>();
}

void read_value(const Cursor& c, std::string& out) {
    if (!c.value->is_string()) {
        fail_type(c, "a string");
        return;
    }
    out = c.value->get<std::string>();
}

void read_value(const Cursor& c, Time& out) {
    read_quantity(c, out, parse_time, "700 ns");
}

void read_value(const Cursor& c, Bytes& out) {
    read_quantity(c, out, parse_bytes, "25 MiB");
}

void read_value(const Cursor& c, Bandwidth& out) {
    read_quantity(c, out, parse_bandwidth, "450 GB/s");
}

void read_value(const Cursor& c, Frequency& out) {
    read_quantity(c, out, parse_frequency, "1.83 GHz");
}

void read_value(const Cursor& c, FlopRate& out) {
    read_quantity(c, out, parse_flop_rate, "794 TFLOP/s");
}

void fail_type(const Cursor& c, std::string_view expected) {
    c.fail(fmt::format("is {}; expected {}", shown(*c.value), expected));
}

void fail_unknown(
    const Cursor& c, std::string_view what, std::string_view word,
    std::span<const std::string_view> known) {
    c.fail(fmt::format(
        "unknown {}{}; expected one of: {}", what, did_you_mean(word, known),
        fmt::join(known, ", ")));
}

void fail_range(const Cursor& c, const std::string& low, const std::string& high) {
    c.fail(fmt::format("is {}; expected a value from {} to {}", shown(*c.value), low, high));
}

WrittenKey written_key(const Cursor& c, std::string_view name, std::string_view old_name) {
    const auto value_of = [&](std::string_view key) -> const Json* {
        const auto found = c.value->find(std::string(key));
        return found == c.value->end() ? nullptr : &*found;
    };
    const Json* value = value_of(name);
    const Json* old = old_name.empty() ? nullptr : value_of(old_name);
    if (old == nullptr)
        return {name, value};
    const Cursor at = c.child(old_name, *old);
    if (value != nullptr)
        at.fail(fmt::format("is the former name of {}, which is given too; expected one", name));
    else
        c.state->notes.push_back(fmt::format(
            "{}: {} is called {} now; the former name is read for one release",
            c.file.filename().string(), at.pointer, name));
    return {old_name, old};
}

Json apply_overrides(const Json& value, const std::string& root_pointer, ReadState& state) {
    Json result = value;
    for (PendingOverride& pending : state.overrides) {
        const std::string_view pointer = pending.change.pointer;
        if (pending.used || pointer == root_pointer || !within(pointer, root_pointer))
            continue;
        const auto below = put(result, pointer.substr(root_pointer.size()), pending.change.value);
        if (!below)
            continue;
        pending.used = true;
        pending.made = pointer.substr(0, pointer.size() - below->size());
    }
    return result;
}

void report_source(const Cursor& c, std::span<const std::string_view> known) {
    if (c.value->is_string())
        return;
    if (!c.value->is_object()) {
        fail_type(c, "a string, or an object with one string a field");
        return;
    }
    for (const auto& [name, text] : c.value->items()) {
        const Cursor at = c.child(name, text);
        if (std::find(known.begin(), known.end(), name) == known.end())
            fail_unknown(at, "field", name, known);
        else if (!text.is_string())
            fail_type(at, "a string");
    }
}

void report_unknown_keys(const Cursor& c, std::span<const std::string_view> known) {
    for (const auto& [key, value] : c.value->items()) {
        if (std::find(known.begin(), known.end(), key) != known.end())
            continue;
        const Cursor at = c.child(key, value);
        if (key == "$source")
            report_source(at, known);
        else if (key != "$schema" || !c.pointer.empty())
            fail_unknown(at, "key", key, known);
        else if (!value.is_string())
            fail_type(at, "a string");
    }
}

NamedValue named_value(const Cursor& c) {
    const auto& text = c.value->get_ref<const std::string&>();
    const std::size_t mark = std::min(text.rfind("#/"), text.size());
    const std::filesystem::path written = text.substr(0, mark);
    return {path_named_in(c.file, written), mark == text.size() ? "" : text.substr(mark + 1)};
}

const Json* find_value(const Json& json, std::string_view pointer) {
    const Json* at = &json;
    while (!pointer.empty() && at != nullptr) {
        const auto [token, rest] = split(pointer);
        const auto found = at->is_object() ? at->find(unescape(token)) : at->end();
        at = at->is_object() && found != at->end() ? &*found : nullptr;
        pointer = rest;
    }
    return at;
}

void throw_problems(ReadState& state) {
    for (const PendingOverride& pending : state.overrides) {
        const std::string& pointer = pending.change.pointer;
        const bool unread =
            std::any_of(state.unread.begin(), state.unread.end(), [&](const std::string& parent) {
                return within(pointer, parent);
            });
        if (!pending.used && !unread)
            state.problems.push_back(
                {"--set", pointer,
                 "is not a parameter of the configuration; expected the pointer of one"});
    }
    if (!state.problems.empty())
        throw ConfigError(std::move(state.problems));
}

}  // namespace switchfold
