// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "core/json_instances.h"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// Parses strictly: comments are allowed, duplicate keys are not. Throws ConfigError: a syntax
/// error with line and column, a duplicate key with its pointer.
[[nodiscard]] Json parse_json(std::string_view text, const std::string& label);
/// File name that stands for standard input. Paths in it are relative to the working folder.
inline constexpr const char* kStandardInput = "-";
/// Reads a file, or standard input, and parses it. Throws ConfigError if it cannot be read.
[[nodiscard]] Json load_json(const std::filesystem::path& path);

/// A value that replaces one of the configuration: --set /json/pointer=VALUE.
struct Override {
    std::string pointer;
    Json value;
};
/// VALUE is read as JSON if it parses, else as a string. Throws ConfigError if there is no pointer.
[[nodiscard]] Override parse_override(std::string_view text);

/// A key as one token of a JSON pointer (RFC 6901).
[[nodiscard]] std::string escape_token(std::string_view key);
/// A value as error messages show it: short, one line, valid UTF-8.
[[nodiscard]] std::string shown(const Json& value);

/// The word of `known` nearest to `word`, within two edits and sharing a letter; empty if there is
/// none.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace switchfold
