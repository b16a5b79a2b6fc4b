// SPDX-License-Identifier: Apache-2.0
#include "training/strategies/optimizer_sharded.h"

#include "training/strategies/gradient_buckets.h"

namespace switchfold {

ExecutionGraph
optimizer_sharded_step(const std::vector<Layer>& layers, const DataParallelOptions& options) {
    StepBuilder step(layers, options);
    GradientBuckets buckets(step, options, CollectiveKind::kReduceScatter);
    for (std::size_t i = 0; i < layers.size(); ++i)
        step.forward(i);
    for (std::size_t i = layers.size(); i-- > 0;) {
        step.backward(i);
        buckets.add(layers[i]);
    }
    buckets.flush();
    buckets.wait_for_all();
    step.optimizer(static_cast<double>(buckets.all_parameters()) / options.ranks);
    const Datatype weights =
        options.activation_bytes == 4 ? Datatype::kFloat32 : Datatype::kBfloat16;
    for (const std::uint64_t parameters : buckets.parameters())
        step.communicate(
            "all_gather", CollectiveKind::kAllGather, size_of(weights) * parameters, weights,
            Phase::kOptimizer, {step.last_kernel()});
    return step.take();
}

}  // namespace switchfold
