// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/results/kernel_causes.h"
#include "sim/results/slowdowns.h"
#include "sim/simulated_run.h"
#include "sim/uncertainty/run_intervals.h"
#include "sim/workload/prepared_variant.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// The run of one workload that has the GPUs of its machine to itself: its scenarios, the runs for
/// their causes, learning and changes of members along them.
class SingleRun final : public SimulatedRun {
public:
    SingleRun(const LoadedExperiment& loaded, const RunOptions& options) :
        SimulatedRun(loaded, options) {}
    void simulate() override;
    void tell(ExperimentResult& result) const override;
    void write(ResultFolder& folder, const ExperimentResult& result) const override;

private:
    /// A variant of the experiment, and its run without overlap.
    struct Shared {
        PreparedVariant prepared;
        std::size_t baseline = SIZE_MAX;
    };
    /// Jobs of a scenario.
    struct Planned {
        std::size_t main = 0;
        std::size_t together = 0;  ///< no rank late; equals main if none is late anyway
        CauseJobs with;
    };

    [[nodiscard]] const Shared& shared_by(std::size_t scenario) const {
        return variants_[variant_of_[scenario]];
    }
    [[nodiscard]] const PreparedVariant& prepared_of(std::size_t scenario) const {
        return shared_by(scenario).prepared;
    }
    [[nodiscard]] const ExecutionGraph& graph_of(std::size_t scenario) const {
        return prepared_of(scenario).graph_of(scenarios()[scenario]);
    }
    [[nodiscard]] const Outcome& outcome_of(std::size_t scenario) const {
        return outcomes_[planned_[scenario].main];
    }
    [[nodiscard]] bool has_causes(std::size_t scenario) const {
        return !planned_[scenario].with.empty();
    }

    // Prepares what each scenario runs; without `set`, all share one. (single_run.cpp)

    void prepare();
    [[nodiscard]] std::set<std::string> scenarios_to_leave_out();
    void leave_out_scenarios();
    std::size_t
    add_run(const PreparedVariant& variant, const ScenarioParams& scenario, const RunAs& as);
    void plan();
    void plan_baselines();
    [[nodiscard]] ScenarioParams without_overlap_of(std::size_t variant) const;

    // A scenario's own figures. (scenario_figures.cpp)

    [[nodiscard]] ScenarioResult scenario_result(std::size_t scenario) const;
    [[nodiscard]] PhaseTimes alone_of(std::size_t scenario, std::uint32_t steps = UINT32_MAX) const;
    [[nodiscard]] std::pair<const ExecutionGraph&, const Outcome&>
    run_with(std::size_t scenario, MechanismSet on) const;
    [[nodiscard]] RunTimes times_of(std::size_t scenario, const PhaseTimes& now) const;
    [[nodiscard]] std::vector<KernelClassResult> classes_of(std::size_t scenario) const;
    [[nodiscard]] TogetherResult together_of(std::size_t scenario, double alone) const;
    [[nodiscard]] std::optional<OpenTime>
    left_open(std::size_t scenario, const ScenarioResult& s) const;
    [[nodiscard]] std::vector<ScenarioCauses>
    kernel_causes(const std::vector<RanScenario>& scenarios) const;
    void tell_workload(ExperimentResult& result) const;

    // Figures relative to others. (relative_figures.cpp)

    [[nodiscard]] std::optional<std::size_t> baseline_scenario() const;
    [[nodiscard]] double pace_of(std::size_t scenario, const ScenarioResult& s) const;
    void tell_speedups(ExperimentResult& result) const;
    void tell_intervals(ExperimentResult& result) const;

    // What follows the simulated times. (followers.cpp)

    void learn(ExperimentResult& result) const;
    void change_members(ExperimentResult& result) const;

    std::deque<Shared> variants_;          ///< referred to by runs
    std::vector<std::size_t> variant_of_;  ///< by scenario
    std::vector<Planned> planned_;
    std::vector<Outcome> outcomes_;
};

}  // namespace switchfold
