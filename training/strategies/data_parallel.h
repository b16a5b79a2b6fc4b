// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/strategies/step_builder.h"

#include <vector>

namespace switchfold {

struct DataParallelOptions : TrainingOptions {
    Bytes bucket = mebibytes(25);  ///< PyTorch's bucket_cap_mb
    Bytes first_bucket = mebibytes(1);
};

/// One step of data-parallel training as run by PyTorch's DistributedDataParallel: forward, then
/// backward in reverse order with all-reduces of full buckets on a separate stream, then the
/// optimizer once all of them are done.
[[nodiscard]] ExecutionGraph
data_parallel_step(const std::vector<Layer>& layers, const DataParallelOptions& options);

}  // namespace switchfold
