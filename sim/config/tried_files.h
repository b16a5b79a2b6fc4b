// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace switchfold {

/// Reads a collective's program and proves it for some numbers of ranks, or those that it is for.
/// Throws ConfigError.
void try_program(const std::filesystem::path& file);
/// Reads a tuner's table and asks it. Throws ConfigError.
void try_tuner_table(const std::filesystem::path& file);

}  // namespace switchfold
