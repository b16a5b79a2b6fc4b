// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/experiment.h"

#include <string>

namespace switchfold {

/// A system in words: GPUs, links, switches, what memory and links can carry, and how all-reduces
/// of each size run.
[[nodiscard]] std::string describe_system(const SystemParams& system);

}  // namespace switchfold
