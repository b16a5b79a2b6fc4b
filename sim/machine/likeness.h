// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "sim/intervals/likeness.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace switchfold {

/// What is alike of all measurements of a kind on the first `ranks` GPUs of a system: generation,
/// fabric, ranks and machines.
[[nodiscard]] intervals::Likeness
likeness_on(const SystemParams& system, std::string kind, std::uint32_t ranks);

/// Machines that so many ranks are on, with so many GPUs each. \pre gpus_of_machine > 0
[[nodiscard]] constexpr std::uint32_t
machines_of(std::uint32_t ranks, std::uint32_t gpus_of_machine) {
    return ranks == 0 ? 1 : (ranks + gpus_of_machine - 1) / gpus_of_machine;
}

/// The type of a machine's topology: "switched", "full_mesh", "pcie", ... NVSwitches on boards are
/// switched.
[[nodiscard]] std::string_view fabric_of(const SystemParams& system);

}  // namespace switchfold
