// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"

#include <string>

namespace switchfold {

/// A system of devices in words: the processors, what they reach by threads of a core, their links.
[[nodiscard]] std::string describe_devices(const SystemParams& system);

/// Its devices and links for Graphviz.
[[nodiscard]] std::string draw_devices(const SystemParams& system);

}  // namespace switchfold
