// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/json_beginning.h"

#include <algorithm>
#include <cstddef>

namespace switchfold {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

/// The position behind the text that begins at `at` with a quote; npos if it does not end.
std::size_t end_of_text(std::string_view json, std::size_t at) {
    for (++at; at < json.size(); ++at) {
        if (json[at] == '\\')
            ++at;
        else if (json[at] == '"')
            return at + 1;
    }
    return std::string_view::npos;
}

}  // namespace

bool JsonBeginning::has(std::string_view key) const {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

JsonBeginning json_beginning(std::string_view json) {
    JsonBeginning found;
    std::size_t at = json.find_first_not_of(kBlanks);
    if (at == std::string_view::npos || (json[at] != '{' && json[at] != '['))
        return found;
    found.list = json[at] == '[';
    const std::size_t of_keys = found.list ? 2 : 1;  // depth of the first object's keys
    std::size_t depth = 0;
    bool first_object = true;
    while (at < json.size()) {
        const char c = json[at];
        if (c == '"') {
            const std::size_t end = end_of_text(json, at);
            if (end == std::string_view::npos)
                break;
            const std::size_t behind = json.find_first_not_of(kBlanks, end);
            if (first_object && depth == of_keys && behind != std::string_view::npos &&
                json[behind] == ':')
                found.keys.emplace_back(json.substr(at + 1, end - at - 2));
            at = end;
            continue;
        }
        if (c == '{' || c == '[')
            ++depth;
        if ((c == '}' || c == ']') && depth > 0) {
            --depth;
            first_object = first_object && depth >= of_keys;
            if (depth == 0) {
                const std::size_t behind = json.find_first_not_of(kBlanks, at + 1);
                found.lines = behind != std::string_view::npos && json[behind] == '{';
                break;
            }
        }
        ++at;
    }
    return found;
}

}  // namespace switchfold
