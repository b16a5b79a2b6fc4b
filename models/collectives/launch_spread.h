// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/running_collective.h"

#include <cstdint>

namespace switchfold {

/// Peers whose data the rank at `position` awaits at once, from each the first that it sends.
[[nodiscard]] std::uint32_t awaited_at_once(const CollectiveSpec& spec, std::uint32_t position);

/// Time by which the latest of `peers` launches follows the mean of them, if a part of each is
/// exponentially distributed with mean `spread`.
[[nodiscard]] Time latest_of(Time spread, std::uint32_t peers);

}  // namespace switchfold
