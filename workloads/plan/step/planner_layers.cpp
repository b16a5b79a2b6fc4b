// SPDX-License-Identifier: Apache-2.0
#include "workloads/plan/step/planner_layers.h"

namespace switchfold {

std::vector<PlannerLayer>
planner_layers(const Network& network, const KernelTimes& times, const ParallelPlan& plan) {
    const StageWork work = layer_by_layer(network, times, plan);
    const std::uint32_t count = work.stages();
    std::vector<PlannerLayer> layers;
    for (std::uint32_t i = 0; i < count; ++i)
        layers.push_back(
            {work.seconds(PassKind::kForward, i) + work.seconds(PassKind::kBackward, i),
             i + 1 < count ? static_cast<double>(work.message(i).count()) : 0.0,
             work.parameters(i) * element_bytes(plan.datatype),
             work.kept(i).until_input_gradient});
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
