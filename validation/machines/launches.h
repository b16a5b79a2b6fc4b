// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/launch_times.h"

#include <filesystem>
#include <map>
#include <string>

namespace switchfold::validation {

/// Launch times of hosts, by file name.
using ShippedLaunches = std::map<std::string, LaunchTimes>;

/// Reads all of configs/launches; `root`: the repository.
[[nodiscard]] ShippedLaunches shipped_launches(const std::filesystem::path& root);

}  // namespace switchfold::validation
