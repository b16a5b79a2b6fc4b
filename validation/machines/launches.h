// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/step/launch_times.h"

#include <filesystem>
#include <map>
#include <string>

namespace switchfold::validation {

/// What hosts take to launch, by the name of its file.
using ShippedLaunches = std::map<std::string, LaunchTimes>;

/// All of configs/launches; `root`: of the repository.
[[nodiscard]] ShippedLaunches shipped_launches(const std::filesystem::path& root);

}  // namespace switchfold::validation
