// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace switchfold {

/// A short text stored in place, for example an algorithm's name; its owner can be copied byte by
/// byte.
class ShortText {
public:
    static constexpr std::size_t kLongest = 15;

    ShortText() = default;
    /// Empty if `text` is too long; no name of an algorithm or protocol is.
    // NOLINTNEXTLINE(google-explicit-constructor): a text is a text
    ShortText(std::string_view text) {
        text = text.substr(0, text.find('\0'));
        if (text.size() <= kLongest)
            std::copy(text.begin(), text.end(), letters_.begin());
    }
    // NOLINTNEXTLINE(google-explicit-constructor)
    ShortText(const char* text) : ShortText(std::string_view(text)) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    ShortText(const std::string& text) : ShortText(std::string_view(text)) {}

    [[nodiscard]] std::string_view text() const { return letters_.data(); }
    [[nodiscard]] bool empty() const { return text().empty(); }
    bool operator==(const ShortText&) const = default;

private:
    std::array<char, kLongest + 1> letters_{};  ///< zero-terminated and padded with zeros
};

}  // namespace switchfold
