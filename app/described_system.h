// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/described_machine.h"

#include <filesystem>
#include <string>

namespace switchfold {

/// A system's file for a machine that describes itself: what its tools say, over the shipped system
/// with its GPUs and the same kind of links, which has what they do not. `gpu`: the GPUs' name
/// where the description has none. `from`: what the marks call the description. Throws ConfigError
/// if no shipped system is like it.
struct SystemChoice {
    std::string name;
    std::string gpu;
    std::string from;
    std::filesystem::path schemas;
    std::filesystem::path folder;  ///< of the file to write
};
[[nodiscard]] std::string
described_system(const DescribedMachine& machine, const SystemChoice& choice);

}  // namespace switchfold
