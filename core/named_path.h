// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace switchfold {

/// The rule for every path that a file names: it is absolute, or relative to the folder of the file
/// that names it. "." and ".." are resolved by name.
[[nodiscard]] std::filesystem::path
path_from(const std::filesystem::path& folder, const std::filesystem::path& written);
/// `file`: the one that names it.
[[nodiscard]] std::filesystem::path
path_named_in(const std::filesystem::path& file, const std::filesystem::path& written);

}  // namespace switchfold
