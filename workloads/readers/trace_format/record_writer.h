// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/trace_format/operation_records.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace switchfold::trace_format {

/// Writes a JSON string; invalid UTF-8 becomes U+FFFD.
void write_text(fmt::memory_buffer& out, std::string_view text);

inline void write_json(fmt::memory_buffer& out, bool value) {
    out.append(std::string_view(value ? "true" : "false"));
}
template <class T>
requires std::is_arithmetic_v<T>
void write_json(fmt::memory_buffer& out, T value) {
    fmt::format_to(std::back_inserter(out), "{}", value);
}
inline void write_json(fmt::memory_buffer& out, const std::string& value) {
    write_text(out, value);
}
template <class E>
void write_json(fmt::memory_buffer& out, Word<E> value) {
    write_text(out, to_string(value.value));
}
template <class T>
void write_json(fmt::memory_buffer& out, const std::optional<T>& value) {
    write_json(out, *value);
}
template <class T>
void write_json(fmt::memory_buffer& out, const std::vector<T>& values) {
    out.push_back('[');
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0)
            out.push_back(',');
        write_json(out, values[i]);
    }
    out.push_back(']');
}
inline void
write_json(fmt::memory_buffer& out, const std::map<std::string, std::uint64_t>& values) {
    char separator = '{';
    for (const auto& [key, value] : values) {
        out.push_back(separator);
        write_text(out, key);
        out.push_back(':');
        write_json(out, value);
        separator = ',';
    }
    out.append(std::string_view(separator == '{' ? "{}" : "}"));
}

/// Writes one record as a line of JSON: "type" first, then the fields that differ from their
/// defaults.
template <class R>
void write_record(fmt::memory_buffer& out, const R& record) {
    static const R kDefaults;
    fmt::format_to(std::back_inserter(out), "{{\"type\":\"{}\"", R::kType);
    const auto write = [&](const auto& f) {
        if (!f.is_required && record.*(f.member) == kDefaults.*(f.member))
            return;
        fmt::format_to(std::back_inserter(out), ",\"{}\":", f.name);
        write_json(out, record.*(f.member));
    };
    for_each_of(R::fields(), write);
    out.append(std::string_view("}\n"));
}

}  // namespace switchfold::trace_format
