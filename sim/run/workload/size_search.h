// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"

#include <functional>

namespace switchfold {

/// The size whose transfer takes `wanted`, in multiples of `grain`: the least if that takes longer.
/// `time_of` tells the time of a size and is asked a dozen times at most. Longer transfers take
/// longer, and large ones take time in proportion to their size. \returns the size nearest in time.
[[nodiscard]] Bytes
size_that_takes(Time wanted, Bytes grain, const std::function<Time(Bytes)>& time_of);

}  // namespace switchfold
