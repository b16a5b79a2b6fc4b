// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace switchfold::validation {

/// The folder that holds configs/systems: `given` if it is not empty, else the working folder or
/// one above it, else one above the program, wherever both were moved to, or share/switchfold in
/// one of them, where it is installed. Throws ConfigError if there is none.
[[nodiscard]] std::filesystem::path find_root(const std::filesystem::path& given);

}  // namespace switchfold::validation
