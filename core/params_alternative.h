// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string_view>

namespace switchfold {

/// Two ways to describe one thing: by the field `instead`, or by all others. `common` is given with
/// either. A struct declares it as `static constexpr Alternative kAlternative`; what is required
/// then is so without `instead` only, and nothing but `common` stands beside it.
struct Alternative {
    std::string_view instead;
    std::string_view common;
    /// Whether a field is given without `instead` only.
    [[nodiscard]] constexpr bool replaces(std::string_view field) const {
        return field != instead && field != common;
    }
};

template <class P>
concept WithAlternative = requires {
    { P::kAlternative } -> std::convertible_to<Alternative>;
};

}  // namespace switchfold
