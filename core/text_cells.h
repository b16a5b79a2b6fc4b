// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// The parts between separators, at least one; a carriage return at the end is removed.
[[nodiscard]] std::vector<std::string> split_text(std::string_view text, char separator);
/// The parts between white space.
[[nodiscard]] std::vector<std::string> split_words(const std::string& text);
/// Empty unless the whole text is a whole number.
[[nodiscard]] std::optional<std::uint64_t> parse_count(std::string_view text);
/// Empty unless the whole text is a finite number.
[[nodiscard]] std::optional<double> parse_decimal(std::string_view text);
/// Throws IoError.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);
/// A file that people write or print: a regular one of at most 16 MiB. Throws ConfigError, which
/// says what is `expected`.
[[nodiscard]] std::string
read_small_text(const std::filesystem::path& path, std::string_view expected);
/// `, did you mean "WORD"?` with the nearest of the known words; empty where none is near.
[[nodiscard]] std::string
did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace switchfold
