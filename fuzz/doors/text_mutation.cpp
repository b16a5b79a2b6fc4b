// SPDX-License-Identifier: Apache-2.0
#include "fuzz/doors/text_mutation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <random>
#include <vector>

namespace switchfold::fuzz {

namespace {

struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;
    [[nodiscard]] std::string_view of(std::string_view text) const {
        return text.substr(begin, end - begin);
    }
};
using Parts = std::vector<Part>;

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_letter(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

template <class Belongs>
Parts runs_of(std::string_view text, const Belongs& belongs) {
    Parts parts;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!belongs(text[i]))
            continue;
        const std::size_t begin = i;
        while (i < text.size() && belongs(text[i]))
            ++i;
        parts.push_back({begin, i});
    }
    return parts;
}

/// Elements: {...} and [...] with the comma behind them, tags <...>, and lines.
Parts elements_of(std::string_view text) {
    Parts parts = runs_of(text, [](char c) { return c != '\n'; });
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '{' || c == '[' || c == '<')
            open.push_back(i);
        if ((c == '}' || c == ']' || c == '>') && !open.empty()) {
            const std::size_t end = i + 1 < text.size() && text[i + 1] == ',' ? i + 2 : i + 1;
            parts.push_back({open.back(), end});
            open.pop_back();
        }
    }
    return parts;
}

}  // namespace

std::string mutated_text(std::string_view text, std::uint32_t seed) {
    std::minstd_rand random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
    std::string made(text);
    enum class Change { kNumber, kOtherNumber, kWord, kRepeat, kLeaveOut, kMove, kCount };
    const auto change = static_cast<Change>(below(static_cast<std::size_t>(Change::kCount)));
    const Parts parts = change <= Change::kOtherNumber ? runs_of(text, is_digit)
                        : change == Change::kWord      ? runs_of(text, is_letter)
                                                       : elements_of(text);
    if (parts.empty())
        return made;
    const Part part = parts[below(parts.size())];
    const Part other = parts[below(parts.size())];
    const auto put = [&](std::string_view instead) {
        made.replace(part.begin, part.end - part.begin, instead);
    };
    switch (change) {
    case Change::kNumber: {
        // Limits of programs and of numbers.
        constexpr std::array<std::string_view, 10> kEdges{
            "10",    "16",    "256",     "1024",          "4096",
            "65535", "65536", "2000001", "1099511627777", "99999999999999999999"};
        const std::size_t which = below(10 + kEdges.size());
        put(which < 10 ? std::to_string(which) : std::string(kEdges[which - 10]));
        break;
    }
    case Change::kOtherNumber:
    case Change::kWord:
        put(other.of(text));
        break;
    case Change::kRepeat:
        made.insert(part.end, part.of(text));
        break;
    case Change::kLeaveOut:
        put("");
        break;
    default:
        made.insert(other.end, part.of(text));
        if (part.begin >= other.end)
            made.erase(part.begin + (part.end - part.begin), part.end - part.begin);
        else if (part.end <= other.end)
            made.erase(part.begin, part.end - part.begin);
        break;
    }
    return made;
}

}  // namespace switchfold::fuzz
