// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "sim/config/experiment.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// A system in words: its devices, or its GPUs, interconnect, and bounds given by its graph and
/// memory. `node`: process in nm of the estimate of its reduction units.
[[nodiscard]] std::string describe_system(const SystemParams& system, std::uint32_t node = 7);

/// Processes, in nm, for which there is such an estimate.
[[nodiscard]] std::vector<std::uint32_t> processes_of_estimates();
/// Area and energy of its reduction units at a process in nm (UnitPlace::node), as JSON; an
/// estimate.
[[nodiscard]] OrderedJson units_of_system(const SystemParams& system, std::uint32_t node);

/// The system's graph for Graphviz (`dot -Tsvg`, `sfdp` for large ones).
[[nodiscard]] std::string draw_system(const SystemParams& system);
/// A picture of its nodes and links (SVG). `file`: the system's, of which an error says that it has
/// no GPUs.
[[nodiscard]] std::string picture_of_system(const SystemParams& system, const std::string& file);

}  // namespace switchfold
