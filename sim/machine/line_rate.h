// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"

namespace switchfold {

/// What all links of rank 0's GPU carry in one direction, headers and lost shares included: no
/// transfer is faster.
[[nodiscard]] Bandwidth line_rate_of_gpu(const SystemParams& system);

}  // namespace switchfold
