// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace switchfold {

/// ASCII letters in lower case; other bytes unchanged.
[[nodiscard]] inline std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return out;
}

/// ASCII letters in upper case; other bytes unchanged.
[[nodiscard]] inline std::string upper(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return out;
}

[[nodiscard]] inline bool contains(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

/// The text without trailing digits.
[[nodiscard]] inline std::string_view without_number(std::string_view text) {
    while (!text.empty() && text.back() >= '0' && text.back() <= '9')
        text.remove_suffix(1);
    return text;
}

}  // namespace switchfold
