// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/params.h"
#include "sim/core/params_writer.h"
#include "sim/core/units.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace switchfold {

template <NamedEnum E>
std::string enum_words() {
    std::string text;
    for (const auto& [value, name] : EnumNames<E>::kNames)
        text += fmt::format("{}`{}`", text.empty() ? "" : ", ", name);
    return text;
}

/// A type in the words of the manual, and the rows of what is in it: none for a value that holds no
/// parameters.
template <class T>
struct DocOf {
    static std::string type() {
        if constexpr (Params<T>)
            return "object";
        else if constexpr (std::is_same_v<T, bool>)
            return "true or false";
        else if constexpr (std::is_floating_point_v<T>)
            return "number";
        else if constexpr (std::is_arithmetic_v<T>)
            return "whole number";
        else if constexpr (NamedEnum<T>)
            return enum_words<T>();
        else
            return "text";
    }
    static void add_rows(std::string& out, const std::string& prefix, const std::string& remark);
};

template <class Tag>
struct DocOf<Quantity<Tag>> {
    static std::string type() {
        if constexpr (std::is_same_v<Quantity<Tag>, Time>)
            return "time";
        else if constexpr (std::is_same_v<Quantity<Tag>, Bytes>)
            return "bytes";
        else if constexpr (std::is_same_v<Quantity<Tag>, Bandwidth>)
            return "bandwidth";
        else if constexpr (std::is_same_v<Quantity<Tag>, FlopRate>)
            return "floating-point operations a second";
        else
            return "frequency";
    }
    static void add_rows(std::string&, const std::string&, const std::string&) {}
};

template <class T>
struct DocOf<std::optional<T>> {
    static std::string type() { return DocOf<T>::type() + " or null"; }
    static void add_rows(std::string& out, const std::string& prefix, const std::string& remark) {
        DocOf<T>::add_rows(out, prefix, remark);
    }
};

template <class T>
struct DocOf<std::vector<T>> {
    static std::string type() { return "array: " + DocOf<T>::type(); }
    static void add_rows(std::string& out, const std::string& prefix, const std::string& remark) {
        DocOf<T>::add_rows(out, prefix + "[]", remark);
    }
};

template <class T>
struct DocOf<std::map<std::string, T>> {
    static std::string type() { return "by name: " + DocOf<T>::type(); }
    static void add_rows(std::string& out, const std::string& prefix, const std::string& remark) {
        DocOf<T>::add_rows(out, prefix + ".*", remark);
    }
};

template <class... T>
struct DocOf<std::variant<T...>> {
    static std::string type() {
        std::string text;
        ((text += fmt::format("{}`{}`", text.empty() ? "`type` is " : " or ", T::kType)), ...);
        return text;
    }
    static void add_rows(std::string& out, const std::string& prefix, const std::string& remark);
};
template <class... T>
void DocOf<std::variant<T...>>::add_rows(
    std::string& out, const std::string& prefix, const std::string& remark) {
    (DocOf<T>::add_rows(out, prefix, remark + fmt::format(" ({})", T::kType)), ...);
}

/// What may be a file of its own has a table of its own.
template <class P>
struct DocOf<PathOr<P>> {
    static std::string type() { return "object or path"; }
    static void add_rows(std::string&, const std::string&, const std::string&) {}
};

template <class Owner, class F>
void add_doc_row(
    std::string& out,
    const std::string& prefix,
    const std::string& remark,
    const Owner& defaults,
    const F& f) {
    using T = std::remove_cvref_t<decltype(defaults.*(f.member))>;
    const std::string key = (prefix.empty() ? "" : prefix + ".") + std::string(f.name);
    std::string type = DocOf<T>::type();
    if constexpr (!std::is_same_v<decltype(F::bounds), NoBounds>)
        type += fmt::format(", {} to {}", bound_text(f.bounds.min), bound_text(f.bounds.max));
    std::string initial = "required";
    if (!f.is_required) {
        initial.clear();
        if constexpr (!Params<T>)
            initial = fmt::format("`{}`", write_value(defaults.*(f.member)).dump());
    }
    out += fmt::format("| `{}`{} | {} | {} | {} |\n", key, remark, type, initial, f.doc);
    DocOf<T>::add_rows(out, key, remark);
}

template <class T>
void DocOf<T>::add_rows(std::string& out, const std::string& prefix, const std::string& remark) {
    if constexpr (Params<T>) {
        const T defaults{};
        std::apply(
            [&](const auto&... f) { (add_doc_row(out, prefix, remark, defaults, f), ...); },
            T::fields());
    }
}

/// A Markdown table of P's fields and of all that is in them, keys as dotted paths; what only one
/// alternative of a variant has names that alternative. P is a params struct or a variant of them.
template <class P>
std::string docs_of() {
    std::string out = "| key | type | default | meaning |\n|---|---|---|---|\n";
    DocOf<P>::add_rows(out, "", "");
    return out;
}

}  // namespace switchfold
