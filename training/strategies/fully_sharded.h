// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/strategies/step_builder.h"

#include <vector>

namespace switchfold {

struct FullyShardedOptions : TrainingOptions {
    /// Least bytes of weights in a unit, into which layers are wrapped.
    Bytes unit = mebibytes(24);
};

/// One step of fully sharded data-parallel training (ZeRO-3) as run by PyTorch's
/// FullyShardedDataParallel. Every rank keeps a shard of each unit's weights. An all-gather
/// collects a unit before its forward pass and, except for the last unit, before its backward pass;
/// a reduce-scatter distributes its gradients. The next unit's weights arrive while this one
/// computes, two units at most (limit_all_gathers, BACKWARD_PRE). All collectives use one
/// communicator, in launch order.
[[nodiscard]] ExecutionGraph
fully_sharded_step(const std::vector<Layer>& layers, const FullyShardedOptions& options);

}  // namespace switchfold
