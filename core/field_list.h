// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

/// The descriptions that a struct gives of its members, each of a type of its own. A std::tuple of
/// twenty would do the same, but its constructors take most of the time that headers of parameters
/// take to compile.
///
/// Calling the list calls `use` with all of its descriptions.
template <class... Described>
constexpr auto list_of(Described... described) {
    return [described...](auto&& use) { return use(described...); };
}

/// The descriptions of several lists, in order.
template <class First, class Second>
constexpr auto joined(const First& first, const Second& second) {
    return first([&](const auto&... a) {
        return second([&](const auto&... b) { return list_of(a..., b...); });
    });
}

/// Calls `visit` with one description after the other.
template <class List, class Visit>
constexpr void for_each_of(const List& list, const Visit& visit) {
    list([&](const auto&... described) { (visit(described), ...); });
}

}  // namespace switchfold
