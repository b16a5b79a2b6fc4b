// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/field_list.h"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

template <class T>
struct Bounds {
    T min;
    T max;
};
struct NoBounds {};

/// Type that a field's bounds apply to: the value of an optional, the items of an array.
template <class T>
struct Bounded {
    using Type = T;
};
template <class T>
struct Bounded<std::optional<T>> : Bounded<T> {};
template <class T>
struct Bounded<std::vector<T>> : Bounded<T> {};

/// One parameter: its JSON key, member, meaning and, optionally, range. A params struct lists its
/// fields once, in `static constexpr auto fields()`. The strict reader, the JSON Schema, the
/// manual's tables and the dump of the effective configuration are all derived from that list.
template <class Owner, class T, class B>
struct Field {
    std::string_view name;
    T Owner::*member;
    std::string_view doc;
    B bounds;
    bool is_required = false;
    std::string_view old_name{};  ///< the key until the last release, still read, with a note
    /// Makes the key mandatory; otherwise the member's initial value is the default.
    [[nodiscard]] constexpr Field required() const {
        Field copy = *this;
        copy.is_required = true;
        return copy;
    }
    /// The key had another name until the last release.
    [[nodiscard]] constexpr Field was(std::string_view name_until_then) const {
        Field copy = *this;
        copy.old_name = name_until_then;
        return copy;
    }
};

template <class Owner, class T>
constexpr Field<Owner, T, NoBounds>
field(std::string_view name, T Owner::*member, std::string_view doc) {
    return {name, member, doc, {}};
}
/// With the least and the largest accepted value.
template <class Owner, class T>
constexpr Field<Owner, T, Bounds<typename Bounded<T>::Type>> field(
    std::string_view name, T Owner::*member, std::string_view doc, typename Bounded<T>::Type min,
    typename Bounded<T>::Type max) {
    return {name, member, doc, {min, max}};
}

template <class P>
concept Params = requires {
    P::fields();
};

/// The JSON words for an enum's values; specialise with `static constexpr std::array<std::pair<E,
/// std::string_view>, N> kNames`.
template <class E>
struct EnumNames;
template <class E>
concept NamedEnum = requires {
    EnumNames<E>::kNames;
};

template <NamedEnum E>
[[nodiscard]] constexpr std::string_view enum_name(E value) {
    for (const auto& [candidate, name] : EnumNames<E>::kNames)
        if (candidate == value)
            return name;
    return "?";
}

/// Collects problems that check() finds across fields. Pointers are relative to the checked struct.
class ParamChecker {
public:
    void error(std::string_view pointer, std::string_view message) {
        found_.emplace_back(std::string(pointer), std::string(message));
    }
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& found() const {
        return found_;
    }

private:
    std::vector<std::pair<std::string, std::string>> found_;
};

/// Rules across fields go into `void check(ParamChecker&) const`, which runs once every field alone
/// is valid.
template <class P>
concept Checked = requires(const P& params, ParamChecker& checker) {
    params.check(checker);
};

/// A P in place, or the path of a file that holds one, relative to the file that names it.
template <class P>
struct PathOr {
    P value;
    std::filesystem::path path;  ///< empty when written in place
    P& operator*() { return value; }
    const P& operator*() const { return value; }
    P* operator->() { return &value; }
    const P* operator->() const { return &value; }
};

}  // namespace switchfold
