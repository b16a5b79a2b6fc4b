// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/running_collective.h"

#include <cstdint>

namespace switchfold {

/// Peers whose first data each rank awaits at once.
[[nodiscard]] std::uint32_t awaited_at_once(const CollectiveSpec& spec);

/// Time by which the latest of `peers` launches follows the mean of them, if a part of each is
/// exponentially distributed with mean `spread`.
[[nodiscard]] Time latest_of(Time spread, std::uint32_t peers);

}  // namespace switchfold
