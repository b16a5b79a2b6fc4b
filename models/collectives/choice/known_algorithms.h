// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

#include <vector>

namespace switchfold {

/// Algorithms of these kernels that a policy for collectives of this kind may name besides auto, in
/// the order of the table of algorithms (algorithm_table.cpp), which says it.
[[nodiscard]] std::vector<Algorithm> algorithms_for(CollectiveKind kind, Kernels kernels);

}  // namespace switchfold
