// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/execution_graph.h"
#include "workloads/training/layer_table.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// How a network is trained, and what the GPU reaches alone.
struct DataParallelOptions {
    std::string name;
    std::uint32_t ranks = 8;
    std::uint32_t batch = 32;  ///< samples a rank
    std::uint32_t sms = 108;
    double flops = 0;  ///< a second that dense matrix kernels reach
    double bytes = 0;  ///< a second that streaming kernels reach
    std::uint32_t activation_bytes = 2;
    Datatype gradient = Datatype::kFloat32;
    Bytes bucket = mebibytes(25);  ///< PyTorch's bucket_cap_mb
    Bytes first_bucket = mebibytes(1);
};

/// One step of data-parallel training as PyTorch's DistributedDataParallel runs it: forward,
/// backward in the reverse order with all-reduces of full buckets on a stream of their own, and the
/// optimizer once all are done. A kernel's isolated duration is the longer of its arithmetic and
/// its bytes plus 3 us; matrix layers run one kernel forward and two backward, in tiles of 128 x
/// 128, the others one. Attention scores and activations are not in layer tables and not modelled.
[[nodiscard]] ExecutionGraph
data_parallel_step(const std::vector<Layer>& layers, const DataParallelOptions& options);

}  // namespace switchfold
