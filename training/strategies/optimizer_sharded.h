// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/strategies/data_parallel.h"

#include <vector>

namespace switchfold {

/// One step of ZeRO stage 1 (Rajbhandari et al., SC 2020, arXiv 1910.02054): every rank keeps all
/// weights and gradients, and the optimizer's state of one share. Buckets of gradients are
/// reduce-scattered beside the backward pass; each rank updates its share, and all-gathers of the
/// new weights, a bucket each, end the step.
[[nodiscard]] ExecutionGraph
optimizer_sharded_step(const std::vector<Layer>& layers, const DataParallelOptions& options);

}  // namespace switchfold
