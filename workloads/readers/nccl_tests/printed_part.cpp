// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nccl_tests/printed_part.h"

#include "core/letters.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace switchfold {

namespace {

/// Removes what colours a terminal: ESC [ ... letter.
void remove_colours(std::string& line) {
    constexpr char kEscape = '\x1b';
    for (std::size_t at = line.find(kEscape); at != std::string::npos;
         at = line.find(kEscape, at)) {
        std::size_t end = at + 1;
        if (end < line.size() && line[end] == '[')
            ++end;
        while (end < line.size() && !is_letter(line[end]))
            ++end;
        line.erase(at, std::min(end + 1, line.size()) - at);
    }
}

/// The word that begins at or behind `at`, which moves behind it; empty at the end.
std::string_view next_word(std::string_view line, std::size_t& at) {
    constexpr std::string_view kSpace = " \t\r";
    const std::size_t begin = std::min(line.find_first_not_of(kSpace, at), line.size());
    at = std::min(line.find_first_of(kSpace, begin), line.size());
    return line.substr(begin, at - begin);
}

/// Whether a row begins here: size, count and type.
bool row_at(std::string_view line, std::size_t at) {
    const auto whole = [](std::string_view word) {
        return !word.empty() && std::ranges::all_of(word, is_digit);
    };
    const bool sizes = whole(next_word(line, at)) && whole(next_word(line, at));
    const std::string_view type = next_word(line, at);
    return sizes && !type.empty() && is_letter(type.front());
}

}  // namespace

std::string printed_part(std::string line) {
    remove_colours(line);
    if (const std::size_t comment = line.find('#'); comment != std::string::npos)
        return line.substr(comment);
    for (std::size_t at = 0; at < line.size();) {
        if (row_at(line, at))
            return line.substr(at);
        static_cast<void>(next_word(line, at));
    }
    return line;
}

}  // namespace switchfold
