// SPDX-License-Identifier: Apache-2.0
#include "training/strategies/data_parallel.h"

#include "training/strategies/gradient_buckets.h"

namespace switchfold {

ExecutionGraph
data_parallel_step(const std::vector<Layer>& layers, const DataParallelOptions& options) {
    StepBuilder step(layers, options);
    GradientBuckets buckets(step, options, CollectiveKind::kAllReduce);
    for (std::size_t i = 0; i < layers.size(); ++i)
        step.forward(i);
    for (std::size_t i = layers.size(); i-- > 0;) {
        step.backward(i);
        buckets.add(layers[i]);
    }
    buckets.flush();
    buckets.wait_for_all();
    step.optimizer(static_cast<double>(buckets.all_parameters()));
    return step.take();
}

}  // namespace switchfold
