// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace switchfold::fuzz {

/// Kinds of configurations: one fuzzer, one folder of the corpus and one dictionary each.
inline constexpr std::array<std::string_view, 6> kConfigs{"system", "experiment", "sweep",
                                                          "costs",  "launches",   "power"};

/// The folder of configs/ with files of that kind.
std::string folder_of(std::string_view kind);

/// Reads the bytes as a file of that kind that stands in configs/. \returns whether they were one;
/// false if they were refused as the user's error. Whatever else is thrown is a bug. What was read
/// must come through its own effective configuration unchanged.
bool try_config(std::string_view kind, std::string_view bytes);

}  // namespace switchfold::fuzz
