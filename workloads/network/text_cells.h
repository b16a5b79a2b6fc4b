// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// The parts between separators, at least one; the end of a line in Windows' manner is cut off.
[[nodiscard]] std::vector<std::string> split_text(std::string_view text, char separator);
/// The same without the blanks around each part; they point into the text.
[[nodiscard]] std::vector<std::string_view> trimmed_cells(std::string_view text, char separator);
/// Empty if the text is anything but a whole number.
[[nodiscard]] std::optional<std::uint64_t> parse_count(std::string_view text);
/// Empty if the text is anything but a finite number.
[[nodiscard]] std::optional<double> parse_decimal(std::string_view text);
/// Throws IoError.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);

}  // namespace switchfold
