// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"

#include <string>

namespace switchfold {

/// A system in words: its devices, or its GPUs, interconnect, and bounds given by its graph and
/// memory.
[[nodiscard]] std::string describe_system(const SystemParams& system);

/// The system's graph for Graphviz (`dot -Tsvg`, `sfdp` for large ones).
[[nodiscard]] std::string draw_system(const SystemParams& system);

}  // namespace switchfold
