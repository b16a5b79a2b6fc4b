// SPDX-License-Identifier: Apache-2.0
#include "validation/training/planned_row.h"

#include "sim/machine/likeness.h"
#include "sim/machine/simulate.h"
#include "sim/results/training.h"
#include "sim/workload/folded_plan.h"
#include "sim/workload/kernel_model.h"

#include <algorithm>

namespace switchfold::validation {

PlannedStepRow planned_row(const StepRow& row, const SystemParams& system) {
    return {
        &row, std::make_shared<const SystemParams>(system),
        std::make_shared<const TrainingStep>(
            *row.network, KernelTimes(gpu_rates(*system.gpu)), row.plan)};
}

intervals::Likeness step_likeness(const StepRow& row, const SystemParams& system) {
    intervals::Likeness like = likeness_on(system, "step", row.gpus);
    like.operation = "training";
    like.machines = std::max(1U, row.nodes);
    return like;
}

double work_of(const PlannedStepRow& planned) {
    return static_cast<double>(planned.row->gpus) *
           static_cast<double>(planned.row->network->layers.size());
}

double simulated_seconds(const PlannedStepRow& planned, bool fold, const JobProgress& progress) {
    SimulateOptions options;
    options.progress = progress;
    const ExecutionGraph graph =
        fold ? measured_step(
                   folded_step(*planned.step, *planned.system), *planned.system, {}, options)
             : plan_step(*planned.step);
    const Outcome outcome = simulate(*planned.system, graph, {}, options);
    constexpr double kMicrosecond = 1e-6;
    return round_us(graph, outcome) * kMicrosecond;
}

}  // namespace switchfold::validation
