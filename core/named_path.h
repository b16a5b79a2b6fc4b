// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace switchfold {

/// The rule for every path that a file names: it is absolute, or relative to the folder of the file
/// that names it. "." and ".." are resolved by name.
[[nodiscard]] std::filesystem::path
path_from(const std::filesystem::path& folder, const std::filesystem::path& written);
/// What a file in `folder` calls `file`: a relative path if it is near, else an absolute one.
[[nodiscard]] std::filesystem::path
path_to_write(const std::filesystem::path& folder, const std::filesystem::path& file);
/// `file`: the one that names it.
[[nodiscard]] std::filesystem::path
path_named_in(const std::filesystem::path& file, const std::filesystem::path& written);

}  // namespace switchfold
