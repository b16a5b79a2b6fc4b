// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/numerics/matrix.h"
#include "training/learning/task/task.h"

#include <vector>

namespace switchfold::learning {

/// The sum of the replicas' gradients as it comes out of `sums`: float32 numbers, added in the
/// replicas' order.
[[nodiscard]] Vector rounded_sum(const GradientSums& sums, const std::vector<Vector>& of_replicas);

}  // namespace switchfold::learning
