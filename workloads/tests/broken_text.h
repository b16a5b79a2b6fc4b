// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/random_stream.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace switchfold::testing {

/// Numbers and signs that parsers trip over.
inline constexpr std::array<std::string_view, 10> kTraps{
    "9223372036854775808",
    "18446744073709551615",
    "-1",
    "1e308",
    "0",
    "null",
    "[[[[[[[[",
    "\"",
    "}",
    std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f")};

/// Returns the text with one to three changes to bits, lengths, pieces or numbers.
inline std::string broken(std::string text, RandomStream& random) {
    const auto position = [&] {
        return static_cast<std::size_t>(random.below(std::max<std::uint64_t>(1, text.size())));
    };
    const auto length = [&](std::size_t from) {
        return std::min<std::size_t>(text.size() - from, 1 + random.below(16));
    };
    const std::uint64_t changes = 1 + random.below(3);
    for (std::uint64_t i = 0; i < changes && !text.empty(); ++i) {
        const std::size_t at = position();
        switch (random.below(6)) {
        case 0:
            text[at] = static_cast<char>(text[at] ^ static_cast<char>(1U << random.below(8)));
            break;
        case 1:
            text.resize(at);
            break;
        case 2:
            text.erase(at, length(at));
            break;
        case 3:
            text.insert(position(), text.substr(at, length(at)));
            break;
        case 4: {
            // Replaces a number, so that the rest of the text stays intact.
            const std::size_t digit = text.find_first_of("0123456789", at);
            const std::size_t from = digit == std::string::npos ? at : digit;
            const std::size_t end = text.find_first_not_of("0123456789", from);
            text.replace(
                from, std::min(end, text.size()) - from, kTraps[random.below(kTraps.size())]);
            break;
        }
        default:
            text.insert(at, kTraps[random.below(kTraps.size())]);
            break;
        }
    }
    return text;
}

}  // namespace switchfold::testing
