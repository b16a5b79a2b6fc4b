// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"

#include <cstdint>

namespace switchfold {

/// Number of GPUs of a system.
[[nodiscard]] std::uint32_t gpus_of(const SystemParams& system);
/// Whether a system's switches can reduce for its first `ranks` GPUs.
[[nodiscard]] bool can_reduce_in_switch(const SystemParams& system, std::uint32_t ranks);

}  // namespace switchfold
