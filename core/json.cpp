// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <system_error>

namespace switchfold {

namespace {

/// Deeper nesting than any configuration needs would overflow the stack of recursive readers.
constexpr int kMostDepth = 100;

/// Records duplicate keys of an object: nlohmann silently keeps the last.
class DuplicateWatch {
public:
    explicit DuplicateWatch(const std::string& label) : label_(label) {}

    bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
        switch (event) {
        case Json::parse_event_t::object_start:
        case Json::parse_event_t::array_start:
            if (depth >= kMostDepth)
                throw ConfigError(
                    label_, "", fmt::format("is nested deeper than {} levels", kMostDepth));
            next_item();
            open_.push_back({event == Json::parse_event_t::array_start, {}, {}, 0});
            break;
        case Json::parse_event_t::key:
            open_.back().token = parsed.get<std::string>();
            if (!open_.back().keys.insert(open_.back().token).second)
                problems.push_back(
                    {label_, pointer(), "the key appears twice in one object; expected it once"});
            break;
        case Json::parse_event_t::value:
            next_item();
            break;
        case Json::parse_event_t::object_end:
        case Json::parse_event_t::array_end:
            open_.pop_back();
            break;
        }
        return true;
    }

    std::vector<Problem> problems;

private:
    struct Container {
        bool is_array = false;
        std::set<std::string> keys;
        std::string token;  ///< of the member being read
        std::size_t items = 0;
    };

    void next_item() {
        if (!open_.empty() && open_.back().is_array)
            open_.back().token = fmt::format("{}", open_.back().items++);
    }
    [[nodiscard]] std::string pointer() const {
        std::string text;
        for (const Container& container : open_) {
            text += '/';
            text += escape_token(container.token);
        }
        return text;
    }

    const std::string& label_;
    std::vector<Container> open_;
};

std::string place(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t start = before.rfind('\n');
    const std::size_t column =
        before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
    return fmt::format("line {}, column {}", line, column);
}

}  // namespace

std::string escape_token(std::string_view key) {
    std::string out;
    for (const char c : key) {
        if (c == '~')
            out += "~0";
        else if (c == '/')
            out += "~1";
        else
            out += c;
    }
    return out;
}

std::string shown(const Json& value) {
    if (value.is_object())
        return "an object";
    if (value.is_array())
        return "an array";
    constexpr std::size_t kMostShown = 80;
    // A value from the command line need not be UTF-8.
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() <= kMostShown)
        return text;
    std::size_t end = kMostShown;
    while ((static_cast<unsigned char>(text[end]) & 0xC0U) ==
           0x80U)  // not inside a UTF-8 character
        --end;
    return text.substr(0, end) + "...";
}

Json parse_json(std::string_view text, const std::string& label) {
    DuplicateWatch watch(label);
    Json value;
    try {
        value = Json::parse(
            text.begin(), text.end(), std::ref(watch),
            /*allow_exceptions=*/true,
            /*ignore_comments=*/true);
    } catch (const Json::exception& error) {
        std::string what = error.what();
        const std::size_t colon = what.find(": ");
        what.erase(0, colon == std::string::npos ? what.find(' ') + 1 : colon + 2);
        const auto* syntax = dynamic_cast<const Json::parse_error*>(&error);
        throw ConfigError(
            label, "",
            syntax == nullptr
                ? fmt::format("{}; expected a number that a double can hold", what)
                : fmt::format(
                      "not JSON at {}: {}; expected valid JSON", place(text, syntax->byte), what));
    }
    if (!watch.problems.empty())
        throw ConfigError(std::move(watch.problems));
    return value;
}

Json load_json(const std::filesystem::path& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        throw ConfigError(path.string(), "", "is a folder; expected a JSON file");
    errno = 0;
    std::ifstream file(path == kStandardInput ? "/dev/stdin" : path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || file.bad())
        throw ConfigError(
            path.string(), "",
            fmt::format(
                "cannot be read: {}; expected a JSON file",
                std::generic_category().message(errno)));
    return parse_json(text, path.string());
}

Override parse_override(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (text.empty() || text.front() != '/' || equals == std::string_view::npos)
        throw ConfigError(
            "--set", "", fmt::format("\"{}\" sets nothing; expected /json/pointer=VALUE", text));
    const std::string value(text.substr(equals + 1));
    const bool is_json = !Json::parse(value, nullptr, /*allow_exceptions=*/false).is_discarded();
    return {
        std::string(text.substr(0, equals)), is_json ? parse_json(value, "--set") : Json(value)};
}

std::string nearest(std::string_view word, std::span<const std::string_view> known) {
    constexpr std::size_t kMostEdits = 2;
    std::size_t best = kMostEdits + 1;
    std::string_view found;
    for (const std::string_view candidate : known) {
        std::vector<std::size_t> row(candidate.size() + 1);
        std::iota(row.begin(), row.end(), 0U);
        for (std::size_t i = 0; i < word.size(); ++i) {
            std::size_t diagonal = row[0];
            row[0] = i + 1;
            for (std::size_t j = 0; j < candidate.size(); ++j) {
                const std::size_t change = diagonal + (word[i] == candidate[j] ? 0 : 1);
                diagonal = row[j + 1];
                row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
            }
        }
        // A word that shares no letter is no suggestion.
        if (row.back() < best && row.back() < std::max(word.size(), candidate.size())) {
            best = row.back();
            found = candidate;
        }
    }
    return std::string(found);
}

}  // namespace switchfold
