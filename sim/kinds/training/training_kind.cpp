// SPDX-License-Identifier: Apache-2.0
#include "sim/config/learning_params.h"
#include "sim/kinds/gpu_scenarios.h"
#include "sim/kinds/graph_kind.h"
#include "sim/kinds/kinds.h"
#include "sim/kinds/training/plan_builder.h"
#include "sim/machine/system_queries.h"
#include "sim/workload/training_workload.h"
#include "sim/workload/workload.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

namespace switchfold {

namespace {

learning::AveragingRule rule_of(AverageMethod method) {
    switch (method) {
    case AverageMethod::kPeriodic:
        return learning::AveragingRule::kPeriodic;
    case AverageMethod::kOneShot:
        return learning::AveragingRule::kOneShot;
    case AverageMethod::kElastic:
        return learning::AveragingRule::kElastic;
    case AverageMethod::kElasticAsync:
        return learning::AveragingRule::kElasticAsync;
    case AverageMethod::kModelAveraging:
        return learning::AveragingRule::kModelAveraging;
    case AverageMethod::kBlockMomentum:
        return learning::AveragingRule::kBlockMomentum;
    }
    return learning::AveragingRule::kNone;
}

/// A strategy is a plan from here on. A planner has plans of its own.
void name_as_planned(Experiment& experiment) {
    auto* training = workload_of<TrainingWorkloadParams>(experiment);
    if (training == nullptr || training->plan || experiment.planner)
        return;
    const std::uint32_t ranks = training->ranks > 0 ? training->ranks : gpus_of(*experiment.system);
    *training = with_preset(std::move(*training), ranks);
}

/// What a plan averages is what is learnt from. Learning follows exchanges after a step, not those
/// beside the next ones, so these stay in the plan and are refused there.
void average_as_planned(Experiment& experiment) {
    auto* training = workload_of<TrainingWorkloadParams>(experiment);
    if (!experiment.learning || training == nullptr || !training->plan ||
        !training->plan->average || training->plan->average->overlap)
        return;
    LearningAveragingParams& averaging = experiment.learning->averaging;
    if (averaging.rule != learning::AveragingRule::kNone)
        return;
    averaging.rule = rule_of(training->plan->average->method);
    averaging.every = training->plan->average->every;
    training->plan->average.reset();
    training->plan->overlap_gradients = false;  // none travel in a step
}

/// Replicas learn from as large a part of the batch as the plan gives them.
void share_as_divided(Experiment& experiment) {
    const PlanParams* plan = plan_of(experiment);
    if (!experiment.learning || plan == nullptr || plan->pipeline > 1 ||
        !experiment.learning->members.empty())
        return;
    const std::vector<std::uint32_t>& samples = plan->division.samples;
    const bool unequal =
        std::adjacent_find(samples.begin(), samples.end(), std::not_equal_to<>()) != samples.end();
    if (experiment.learning->shares.empty() && unequal)
        experiment.learning->shares = samples;
}

class TrainingKind final : public GraphKind {
public:
    TrainingKind() :
        GraphKind({.name = TrainingWorkloadParams::kType, .measured_as = "training"}) {}

    void complete(Experiment& experiment) const override {
        name_as_planned(experiment);
        average_as_planned(experiment);
        share_as_divided(experiment);
    }
    void forget_added(const Workload& workload, OrderedJson& text) const override {
        if (workload.as<TrainingWorkloadParams>()->plan_of_strategy)
            text["plan"] = nullptr;
    }
    [[nodiscard]] std::vector<ScenarioParams>
    default_scenarios(const Experiment& experiment) const override {
        return scenarios_of_steps(experiment);
    }
    [[nodiscard]] std::vector<NamedFile> files(const Workload& workload) const override {
        const auto& w = *workload.as<TrainingWorkloadParams>();
        std::vector<NamedFile> files;
        if (!w.table.empty())
            files.push_back({"/table", w.table, "a table of layers"});
        const std::filesystem::path network = w.network ? w.network->file() : "";
        if (!network.empty())
            files.push_back({"/network", network.string(), "a table of layers, or a profile"});
        if (!w.kernel_times.empty())
            files.push_back({"/kernel_times", w.kernel_times, "a table of measured kernels"});
        if (w.plan && w.plan->schedule.ends_with(".json"))
            files.push_back({"/plan/schedule", w.plan->schedule, "a schedule"});
        return files;
    }
    [[nodiscard]] const PlanParams* plan(const Workload& workload) const override {
        const auto& w = *workload.as<TrainingWorkloadParams>();
        return w.plan ? &*w.plan : nullptr;
    }
    /// Passes of a folded plan are measured beside their collectives.
    [[nodiscard]] bool follows_communication(const Experiment& experiment) const override {
        return is_to_fold(*experiment.workload->as<TrainingWorkloadParams>(), experiment);
    }
    [[nodiscard]] std::unique_ptr<WorkloadBuilder> builder(
        const Workload& workload, const WorkloadContext& context,
        PreparedWorkload& out) const override {
        const auto& w = *workload.as<TrainingWorkloadParams>();
        return plan_builder(w, context, out);
    }
};

}  // namespace

const WorkloadKind& kind_of(const TrainingWorkloadParams& /*params*/) {
    static const TrainingKind kKind;
    return kKind;
}

}  // namespace switchfold
