// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace switchfold::validation {

/// Finds the folder that contains configs/systems: `given` if not empty; otherwise the working
/// folder, the program's folder, or a folder above either; in an installation share/switchfold in
/// one of them. Throws ConfigError if there is none.
[[nodiscard]] std::filesystem::path find_root(const std::filesystem::path& given);

}  // namespace switchfold::validation
