// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/policies.h"

#include <cstdint>

namespace switchfold {

/// Applies a limit on a communication kernel's thread blocks to the machine's rules and to
/// policies, like NCCL's maxCTAs at the creation of a communicator: time estimates then use the
/// remaining channels. `most`: 0 for no limit.
[[nodiscard]] CollectiveParams limited(CollectiveParams params, std::uint32_t most);
[[nodiscard]] CollectivePolicies limited(CollectivePolicies policies, std::uint32_t most);

/// Applies the limit to a choice: rules that round up or count differently may still exceed it.
[[nodiscard]] CollectiveConfig
limited(CollectiveConfig choice, std::uint32_t ranks, std::uint32_t most);

}  // namespace switchfold
