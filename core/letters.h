// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

/// Of ASCII, whatever the locale.
[[nodiscard]] constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace switchfold
