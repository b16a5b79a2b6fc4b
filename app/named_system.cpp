// SPDX-License-Identifier: Apache-2.0
#include "app/named_system.h"

#include "core/error.h"
#include "validation/harness/root.h"

namespace switchfold {

std::filesystem::path named_system(const std::string& system) {
    const bool is_file = system.find('/') != std::string::npos || system.ends_with(".json") ||
                         std::filesystem::exists(system);
    const std::filesystem::path path =
        is_file ? std::filesystem::path(system)
                : validation::find_root({}) / "configs" / "systems" / (system + ".json");
    if (!std::filesystem::exists(path))
        throw ConfigError(
            path.string(), "", "does not exist; expected a system, as configs/systems has");
    return path;
}

}  // namespace switchfold
