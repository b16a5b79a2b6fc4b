// SPDX-License-Identifier: Apache-2.0
#include "sim/core/params_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace switchfold {

namespace {

std::string escape(std::string_view key) {
    std::string out;
    for (const char c : key) {
        if (c == '~')
            out += "~0";
        else if (c == '/')
            out += "~1";
        else
            out += c;
    }
    return out;
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

std::vector<std::string> tokens(std::string_view pointer) {
    std::vector<std::string> parts;
    while (!pointer.empty()) {
        pointer.remove_prefix(1);  // the slash
        const std::size_t slash = std::min(pointer.find('/'), pointer.size());
        parts.push_back(unescape(pointer.substr(0, slash)));
        pointer.remove_prefix(slash);
    }
    return parts;
}

/// Puts the value at the path, creating objects on the way. \returns false if the path runs through something that is
/// neither object nor array, or past the end of an array.
bool put(Json& at, std::span<const std::string> path, const Json& value) {
    if (path.empty()) {
        at = value;
        return true;
    }
    if (at.is_array()) {
        std::size_t index = 0;
        const std::string& token = path.front();
        const auto [end, code] = std::from_chars(token.data(), token.data() + token.size(), index);
        if (code != std::errc{} || end != token.data() + token.size() || index >= at.size())
            return false;
        return put(at[index], path.subspan(1), value);
    }
    if (!at.is_object())
        return false;
    const bool fresh = !at.contains(path.front());
    if (fresh && path.size() > 1)
        at[path.front()] = Json::object();
    return put(at[path.front()], path.subspan(1), value);
}

template <class T>
void read_unsigned(const Cursor& c, T& out) {
    constexpr std::uint64_t kMax = std::numeric_limits<T>::max();
    if (!c.value->is_number_integer()) {
        c.fail(fmt::format("is {}; expected a whole number", c.value->dump()));
        return;
    }
    if (!c.value->is_number_unsigned()) {
        c.fail(fmt::format("is {}; expected a number that is not negative", c.value->dump()));
        return;
    }
    const auto value = c.value->get<std::uint64_t>();
    if (value > kMax) {
        c.fail(fmt::format("is {}; expected at most {}", value, kMax));
        return;
    }
    out = static_cast<T>(value);
}

template <class T, class Parse>
void read_quantity(const Cursor& c, T& out, Parse parse, std::string_view example) {
    if (!c.value->is_string()) {
        c.fail(fmt::format(
            "is {}; expected a string with a unit such as \"{}\"", c.value->dump(), example));
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
    state->problems.push_back({file.string(), pointer, std::move(message)});
}

Cursor Cursor::child(std::string_view key, const Json& at) const {
    const std::string token = "/" + escape(key);
    return {&at, file, pointer + token, root_pointer + token, state};
}

Cursor Cursor::item(std::size_t index) const {
    const std::string token = fmt::format("/{}", index);
    return {&(*value)[index], file, pointer + token, root_pointer + token, state};
}

void read_value(const Cursor& c, bool& out) {
    if (!c.value->is_boolean()) {
        c.fail(fmt::format("is {}; expected true or false", c.value->dump()));
        return;
    }
    out = c.value->get<bool>();
}

void read_value(const Cursor& c, std::uint32_t& out) {
    read_unsigned(c, out);
}

void read_value(const Cursor& c, std::uint64_t& out) {
    read_unsigned(c, out);
}

void read_value(const Cursor& c, std::int32_t& out) {
    if (!c.value->is_number_integer()) {
        c.fail(fmt::format("is {}; expected a whole number", c.value->dump()));
        return;
    }
    const bool large = c.value->is_number_unsigned() &&
                       c.value->get<std::uint64_t>() > std::numeric_limits<std::int32_t>::max();
    const auto value = large ? 0 : c.value->get<std::int64_t>();
    if (large || value < std::numeric_limits<std::int32_t>::min()) {
        c.fail(fmt::format("is {}; expected a number that fits in 32 bits", c.value->dump()));
        return;
    }
    out = static_cast<std::int32_t>(value);
}

void read_value(const Cursor& c, double& out) {
    if (!c.value->is_number()) {
        c.fail(fmt::format("is {}; expected a number", c.value->dump()));
        return;
    }
    out = c.value->get<double>();
}

void read_value(const Cursor& c, std::string& out) {
    if (!c.value->is_string()) {
        c.fail(fmt::format("is {}; expected a string", c.value->dump()));
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

Json apply_overrides(const Json& value, const std::string& root_pointer, ReadState& state) {
    Json result = value;
    const std::string prefix = root_pointer + "/";
    for (std::size_t i = 0; i < state.overrides.size(); ++i) {
        const Override& change = state.overrides[i];
        if (state.used[i] || change.pointer.compare(0, prefix.size(), prefix) != 0)
            continue;
        const auto path = tokens(std::string_view(change.pointer).substr(root_pointer.size()));
        state.used[i] = put(result, path, change.value);
    }
    return result;
}

void report_unknown_keys(const Cursor& c, std::span<const std::string_view> known) {
    for (const auto& [key, value] : c.value->items()) {
        if (std::find(known.begin(), known.end(), key) != known.end())
            continue;
        const Cursor at = c.child(key, value);
        if (key == "$schema" && c.root_pointer.empty() && value.is_string())
            continue;
        if (key == "$schema" && c.pointer.empty() && value.is_string())
            continue;
        if (key == "$source") {
            // Where the numbers beside it come from: one text, or one a field.
            if (value.is_string())
                continue;
            if (!value.is_object()) {
                at.fail(fmt::format("is {}; expected a string or an object", value.type_name()));
                continue;
            }
            for (const auto& [name, text] : value.items()) {
                if (std::find(known.begin(), known.end(), name) == known.end())
                    at.child(name, text).fail("names no field of this object; expected one of them");
                else if (!text.is_string())
                    at.child(name, text).fail("is no text; expected a string");
            }
            continue;
        }
        const std::string hint = nearest(key, known);
        at.fail(fmt::format(
            "unknown key{}; expected one of: {}",
            hint.empty() ? "" : fmt::format(", did you mean \"{}\"?", hint),
            fmt::join(known, ", ")));
    }
}

std::string out_of_range(const Json& value, const std::string& low, const std::string& high) {
    return fmt::format("is {}; expected a value from {} to {}", value.dump(), low, high);
}

void throw_problems(ReadState& state) {
    for (std::size_t i = 0; i < state.overrides.size(); ++i)
        if (!state.used[i])
            state.problems.push_back(
                {"--set",
                 state.overrides[i].pointer,
                 "reaches nothing in the configuration; expected the pointer of a parameter"});
    if (!state.problems.empty())
        throw ConfigError(std::move(state.problems));
}

}  // namespace switchfold
