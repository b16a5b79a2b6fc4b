// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/training/step_builder.h"

#include <vector>

namespace switchfold {

struct DataParallelOptions : TrainingOptions {
    Bytes bucket = mebibytes(25);  ///< PyTorch's bucket_cap_mb
    Bytes first_bucket = mebibytes(1);
};

/// One step of data-parallel training as PyTorch's DistributedDataParallel runs it: forward,
/// backward in the reverse order with all-reduces of full buckets on a stream of their own, and the
/// optimizer once all are done.
[[nodiscard]] ExecutionGraph
data_parallel_step(const std::vector<Layer>& layers, const DataParallelOptions& options);

}  // namespace switchfold
