// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/training/step_builder.h"

#include <vector>

namespace switchfold {

struct FullyShardedOptions : TrainingOptions {
    /// Layers are wrapped in units of at least so many bytes of weights.
    Bytes unit = mebibytes(24);
};

/// One step of fully sharded data-parallel training (ZeRO 3) as PyTorch's
/// FullyShardedDataParallel runs it: every rank keeps a part of each unit's weights; an all-gather
/// collects a unit before its forward and, but for the last unit, before its backward; a
/// reduce-scatter parts its gradients. The next unit's weights come while this one computes, two
/// units at most (limit_all_gathers, BACKWARD_PRE); all collectives go through one communicator, in
/// the order of their launch.
[[nodiscard]] ExecutionGraph
fully_sharded_step(const std::vector<Layer>& layers, const FullyShardedOptions& options);

}  // namespace switchfold
