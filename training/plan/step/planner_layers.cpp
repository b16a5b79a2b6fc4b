// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/planner_layers.h"

#include "training/plan/step/kept_tensors.h"
#include "training/plan/step/layer_work.h"
#include "training/plan/step/update_kernels.h"

#include <algorithm>
#include <set>

namespace switchfold {

namespace {

/// Of the tensors that each layer's backward reads, the bytes of those that an earlier layer's
/// reads as well: a ReLU keeps its output, which is the input of the convolution behind it.
std::vector<double> kept_before(const Network& network, const LayerWork& layers) {
    std::set<std::uint32_t> kept;
    std::vector<double> before;
    for (std::uint32_t i = 0; i < network.layers.size(); ++i) {
        KeptTensors keeps = kept_tensors(network.layers[i]);
        if (layers.is_fused_gate(i))
            keeps = {true, false, false};
        double bytes = 0;
        if (keeps.input)
            for (const std::uint32_t input : network.layers[i].inputs)
                if (!layers.is_fused_gate(input))
                    bytes += kept.insert(input).second ? 0 : layers.output_bytes(input);
        if (keeps.output)
            kept.insert(i);
        before.push_back(bytes);
    }
    return before;
}

}  // namespace

std::vector<PlannerLayer>
planner_layers(const Network& network, const KernelTimes& times, const ParallelPlan& plan) {
    const StageWork work = layer_by_layer(network, times, plan);
    const std::uint32_t count = work.stages();
    const std::vector<double> before = kept_before(network, work.layers());
    std::vector<PlannerLayer> layers;
    for (std::uint32_t i = 0; i < count; ++i) {
        const double kept = work.kept(i).until_input_gradient;
        double seconds = work.seconds(PassKind::kForward, i) + work.seconds(PassKind::kBackward, i);
        // Every mini-batch ends with an update there; elsewhere a whole batch does.
        if (const double weights = work.parameters(i); plan.schedule == "1f1b_async" && weights > 0)
            seconds += update_seconds(times, plan, weights) / plan.update_every;
        layers.push_back(
            {seconds, i + 1 < count ? static_cast<double>(work.message(i).count()) : 0.0,
             work.parameters(i) * element_bytes(plan.datatype), kept, std::min(kept, before[i])});
    }
    return layers;
}

void use(const PlannedPipeline& found, ParallelPlan& plan) {
    plan.partition.clear();
    plan.replicas.clear();
    bool several = false;
    for (const PlannedStage& stage : found.stages) {
        plan.partition.push_back(stage.first);
        plan.replicas.push_back(stage.replicas);
        several = several || stage.replicas > 1;
    }
    if (!several)
        plan.replicas.clear();
}

}  // namespace switchfold
