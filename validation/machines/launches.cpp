// SPDX-License-Identifier: Apache-2.0
#include "validation/machines/launches.h"

#include "core/params_reader.h"
#include "sim/config/launch_params.h"

namespace switchfold::validation {

ShippedLaunches shipped_launches(const std::filesystem::path& root) {
    ShippedLaunches all;
    for (const auto& file : std::filesystem::directory_iterator(root / "configs" / "launches"))
        all.emplace(file.path().filename().string(), read_params_file<LaunchParams>(file.path()));
    return all;
}

}  // namespace switchfold::validation
