// SPDX-License-Identifier: Apache-2.0
#include "training/memory/step/memory_facts.h"

#include "training/memory/step/rank_network.h"
#include "training/plan/step/stage_work.h"
#include "workloads/kernels/memory_kernel.h"

#include <algorithm>

namespace switchfold {

NetworkScheduleOptions schedule_options(const Network& network, const ParallelPlan& plan) {
    NetworkScheduleOptions options;
    options.batch = plan.micro_batch;
    options.element = size_of(plan.datatype).count();
    options.gradient = size_of(plan.gradient).count();
    options.moments = static_cast<std::uint64_t>(optimizer_state_bytes(plan));
    const std::uint32_t replicas = replicas_at_work(plan) * plan.context;
    options.moment_shards = plan.sharding == Sharding::kNone ? 1 : replicas;
    options.weights_divided = plan.sharding == Sharding::kParameters;
    options.micro_batches = plan.accumulate;
    options.again =
        recomputed_layers(network, plan, 0, static_cast<std::uint32_t>(network.layers.size()));
    options.kept_of_score = kept_of_score(plan);
    return options;
}

ParallelPlan without_recompute(ParallelPlan plan) {
    plan.recompute = Recompute::kNone;
    return plan;
}

MemoryFacts
memory_facts(const Network& network, const KernelTimes& times, const ParallelPlan& plan) {
    MemoryFacts facts;
    facts.held = rank_network(network, times, plan);
    facts.options = schedule_options(network, plan);
    const ParallelPlan once = without_recompute(plan);
    const StageWork work = layer_by_layer(network, times, once);
    if (plan.sharding != Sharding::kNone && plan.expert > 1)
        for (std::uint32_t i = 0; i < work.stages(); ++i)
            facts.options.layer_shards.push_back(
                work.layers().shared_by_experts(i)
                    ? std::max(1U, facts.options.moment_shards / plan.expert)
                    : facts.options.moment_shards);
    for (std::uint32_t i = 0; i < work.stages(); ++i) {
        const Layer& layer = facts.held.layers[i];
        LayerTimes one;
        one.forward = work.seconds(PassKind::kForward, i);
        one.input_gradient = work.seconds(PassKind::kInputGradient, i);
        one.weight_gradient = work.seconds(PassKind::kWeightGradient, i);
        if (layer.parameters > 0)
            one.update = times
                             .estimate(optimizer(
                                 static_cast<double>(layer.parameters) / facts.options.shards_of(i),
                                 element_bytes(plan.datatype), element_bytes(plan.gradient),
                                 optimizer_state_bytes(plan)))
                             .seconds();
        facts.times.push_back(one);
        facts.layers.push_back(
            {layer.name, one.input_gradient, one.weight_gradient, one.update,
             layer.parameters * facts.options.gradient, layer.parameters * facts.options.element,
             layer.shares, work.layers().shared_by_experts(i)});
    }
    return facts;
}

}  // namespace switchfold
