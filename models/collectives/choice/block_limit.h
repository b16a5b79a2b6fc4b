// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/policies.h"

#include <cstdint>

namespace switchfold {

/// What a limit of a communication kernel's thread blocks leaves of the machine's rules and of what
/// policies ask for, as NCCL's maxCTAs does when a communicator is made: its estimates of time go
/// by the channels that are left. `most`: 0 for no limit.
[[nodiscard]] CollectiveParams limited(CollectiveParams params, std::uint32_t most);
[[nodiscard]] CollectivePolicies limited(CollectivePolicies policies, std::uint32_t most);

/// The same of a choice: rules that round up or count otherwise may still go beyond it.
[[nodiscard]] Choice limited(Choice choice, std::uint32_t ranks, std::uint32_t most);

}  // namespace switchfold
