// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace switchfold {

/// The file of a system that is given as a file or by its name in configs/systems ("hgx_h100").
/// Throws ConfigError if there is none.
[[nodiscard]] std::filesystem::path named_system(const std::string& system);

}  // namespace switchfold
