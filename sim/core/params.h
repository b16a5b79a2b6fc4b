// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold {

template <class T>
struct Bounds {
    T min;
    T max;
};
struct NoBounds {};

/// What the bounds of a field bound: the value of an optional, the items of an array.
template <class T>
struct Bounded {
    using Type = T;
};
template <class T>
struct Bounded<std::optional<T>> : Bounded<T> {};
template <class T>
struct Bounded<std::vector<T>> : Bounded<T> {};

/// One parameter: its JSON key, where it lives, what it means, and its range where it has one. A
/// params struct lists its fields once, in `static constexpr auto fields()`; the strict reader, the
/// JSON Schema, the tables of the manual and the dump of the effective configuration all come from
/// that list.
template <class Owner, class T, class B>
struct Field {
    std::string_view name;
    T Owner::*member;
    std::string_view doc;
    B bounds;
    bool is_required = false;
    /// The key must be there; without this the member's initial value is the default.
    [[nodiscard]] constexpr Field required() const {
        Field copy = *this;
        copy.is_required = true;
        return copy;
    }
};

template <class Owner, class T>
constexpr Field<Owner, T, NoBounds>
field(std::string_view name, T Owner::*member, std::string_view doc) {
    return {name, member, doc, {}};
}
/// With the least and the largest value that is accepted.
template <class Owner, class T>
constexpr Field<Owner, T, Bounds<typename Bounded<T>::Type>> field(
    std::string_view name,
    T Owner::*member,
    std::string_view doc,
    typename Bounded<T>::Type min,
    typename Bounded<T>::Type max) {
    return {name, member, doc, {min, max}};
}

template <class P>
concept Params = requires {
    P::fields();
};

/// The words that stand for an enum's values; specialise with `static constexpr
/// std::array<std::pair<E, std::string_view>, N> kNames`.
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

/// Collects the problems that check() finds across fields. Pointers are relative to the checked
/// struct.
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

/// Rules across fields go into `void check(ParamChecker&) const`, which runs once each field by
/// itself is right.
template <class P>
concept Checked = requires(const P& params, ParamChecker& checker) {
    params.check(checker);
};

/// P in place, or the path of a file that holds it, relative to the file that names it.
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
