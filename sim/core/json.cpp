// SPDX-License-Identifier: Apache-2.0
#include "sim/core/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>

namespace switchfold {

namespace {

/// Notes keys that come twice in one object: nlohmann keeps the last and says nothing.
class DuplicateWatch {
public:
    bool operator()(int /*depth*/, Json::parse_event_t event, Json& parsed) {
        switch (event) {
        case Json::parse_event_t::object_start:
            open_.emplace_back();
            break;
        case Json::parse_event_t::key: {
            const auto& key = parsed.get_ref<const std::string&>();
            if (!open_.back().insert(key).second)
                duplicates.push_back(key);
            break;
        }
        case Json::parse_event_t::object_end:
            open_.pop_back();
            break;
        default:
            break;
        }
        return true;
    }
    std::vector<std::string> duplicates;

private:
    std::vector<std::set<std::string>> open_;
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

Json parse_json(std::string_view text, const std::string& label) {
    DuplicateWatch watch;
    Json value;
    try {
        value = Json::parse(
            text.begin(), text.end(), std::ref(watch), /*allow_exceptions=*/true, /*ignore_comments=*/true);
    } catch (const Json::parse_error& error) {
        std::string what = error.what();
        const std::size_t colon = what.find(": ");
        if (colon != std::string::npos)
            what = what.substr(colon + 2);
        throw ConfigError(
            label,
            "",
            fmt::format("not JSON at {}: {}; expected valid JSON", place(text, error.byte), what));
    }
    if (!watch.duplicates.empty()) {
        std::vector<Problem> problems;
        for (const std::string& key : watch.duplicates)
            problems.push_back(
                {label, "/" + key, "the key stands twice in one object; expected it once"});
        throw ConfigError(std::move(problems));
    }
    return value;
}

Json load_json(const std::filesystem::path& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        throw ConfigError(path.string(), "", "is a folder; expected a JSON file");
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw ConfigError(path.string(), "", "cannot be read; expected a JSON file");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return parse_json(text, path.string());
}

Override parse_override(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (text.empty() || text.front() != '/' || equals == std::string_view::npos)
        throw ConfigError(
            "--set",
            "",
            fmt::format("\"{}\" sets nothing; expected /json/pointer=VALUE", text));
    const std::string value(text.substr(equals + 1));
    Json parsed = Json::parse(value, nullptr, /*allow_exceptions=*/false);
    return {std::string(text.substr(0, equals)), parsed.is_discarded() ? Json(value) : parsed};
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
        if (row.back() < best) {
            best = row.back();
            found = candidate;
        }
    }
    return std::string(found);
}

}  // namespace switchfold
