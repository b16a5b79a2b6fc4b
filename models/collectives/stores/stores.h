// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/running_collective.h"

namespace switchfold {

/// Reduce-scatters and all-gathers by the stores of the warps that make, or read, a tile.
[[nodiscard]] MakeCollective make_tile_stores;

}  // namespace switchfold
