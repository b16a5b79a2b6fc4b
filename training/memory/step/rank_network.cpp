// SPDX-License-Identifier: Apache-2.0
#include "training/memory/step/rank_network.h"

#include "training/plan/step/layer_work.h"

#include <cmath>
#include <numeric>

namespace switchfold {

namespace {

std::uint64_t produced(const Network& network, const Layer& layer) {
    return std::accumulate(
        layer.inputs.begin(), layer.inputs.end(), std::uint64_t{0},
        [&](std::uint64_t sum, std::uint32_t input) {
            return sum + network.layers[input].out_elements;
        });
}

}  // namespace

Network rank_network(const Network& network, const KernelTimes& times, const ParallelPlan& plan) {
    if (plan.tensor == 1 && plan.context == 1 && plan.expert == 1)
        return network;
    ParallelPlan fused = plan;
    fused.loss = LossKernels::kFused;  // otherwise an output of 32 bits counts twice
    const LayerWork work(network, times, fused);
    const double sample = element_bytes(plan.datatype) * plan.micro_batch;
    Network held = network;
    for (std::uint32_t i = 0; i < held.layers.size(); ++i) {
        const Layer& whole = network.layers[i];
        Layer& layer = held.layers[i];
        layer.parameters = static_cast<std::uint64_t>(std::llround(work.parameters(i)));
        layer.out_elements =
            static_cast<std::uint64_t>(std::llround(work.output_bytes(i) / sample));
        if (layer.split == TensorSplit::kHeads && layer.out_shape.size() == 2) {
            layer.heads /= plan.tensor;
            layer.kv_heads /= plan.tensor;
            layer.out_shape[0] /= plan.context;
            layer.out_shape[1] /= plan.tensor;
            layer.macs /= std::uint64_t{plan.tensor} * plan.context;
        }
        // What it reads of the network's own input is whole on each rank, but for its tokens.
        const std::uint64_t before = produced(network, whole);
        layer.in_elements =
            produced(held, layer) +
            (whole.in_elements > before ? (whole.in_elements - before) / plan.context : 0);
    }
    return held;
}

}  // namespace switchfold
