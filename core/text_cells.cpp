// SPDX-License-Identifier: Apache-2.0
#include "core/text_cells.h"

#include "core/error.h"
#include "core/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace switchfold {

namespace {

template <class Number>
std::optional<Number> parse(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// The unmodified parts, one more than there are separators.
std::vector<std::string_view> between(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(separator, from), text.size());
        parts.push_back(text.substr(from, to - from));
        from = to + 1;
    }
    return parts;
}

}  // namespace

std::vector<std::string> split_text(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (std::string_view part : between(text, separator)) {
        if (part.ends_with('\r'))
            part.remove_suffix(1);
        parts.emplace_back(part);
    }
    return parts;
}

std::vector<std::string> split_words(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
    return parse<std::uint64_t>(text);
}

std::optional<double> parse_decimal(std::string_view text) {
    const auto value = parse<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string read_text(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw IoError(path.string(), errno, "open");
    std::string text((std::istreambuf_iterator<char>(in)), {});
    if (in.bad())
        throw IoError(path.string(), errno, "read");
    return text;
}

std::string read_small_text(const std::filesystem::path& path, std::string_view expected) {
    std::error_code ignored;
    constexpr std::uintmax_t kMost = 16U << 20U;
    if (!std::filesystem::is_regular_file(path, ignored) ||
        std::filesystem::file_size(path, ignored) > kMost)
        throw ConfigError(
            path.string(), "/",
            fmt::format("does not exist, or is larger than 16 MiB; expected {}", expected));
    return read_text(path);
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
    const std::string near = nearest(word, known);
    return near.empty() ? near : fmt::format(", did you mean \"{}\"?", near);
}

}  // namespace switchfold
