// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/gpu_checks.h"
#include "sim/kinds/gpu_scenarios.h"
#include "sim/kinds/shared_machine/shared_machine.h"
#include "sim/kinds/shared_machine/shared_run.h"
#include "sim/kinds/workload_kind.h"

namespace switchfold {

namespace {

class SharedMachineKind final : public WorkloadKind {
public:
    SharedMachineKind() :
        WorkloadKind(
            {.name = "shared",
             .shares_machine = false,
             .has_rank_timelines = false,
             .told = Told::kSharing}) {}

    void check(const Experiment& experiment, ParamChecker& checker) const override {
        check_on_gpus(experiment, checker);
    }
    [[nodiscard]] std::vector<ScenarioParams>
    default_scenarios(const Experiment& /*experiment*/) const override {
        return {by_rings(), in_switches(true)};
    }
    [[nodiscard]] std::unique_ptr<ExperimentRun>
    start(const LoadedExperiment& loaded, const RunOptions& options) const override {
        return std::make_unique<SharedRun>(loaded, options);
    }
};

}  // namespace

const WorkloadKind& shared_machine_kind() {
    static const SharedMachineKind kKind;
    return kKind;
}

}  // namespace switchfold
