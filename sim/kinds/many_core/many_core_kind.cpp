// SPDX-License-Identifier: Apache-2.0
#include "core/text_cells.h"
#include "sim/kinds/many_core/many_core.h"
#include "sim/kinds/many_core/many_core_params.h"
#include "sim/kinds/workload_kind.h"
#include "sim/output/result_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace switchfold {

namespace {

void check_unused(const Experiment& experiment, ParamChecker& checker) {
    const std::pair<std::string_view, bool> of_gpus[] = {
        {"/learning", experiment.learning.has_value()}, {"/run", experiment.run.has_value()},
        {"/planner", experiment.planner.has_value()},   {"/ranks", !experiment.ranks.empty()},
        {"/faults", !experiment.faults.empty()},        {"/functional", experiment.functional}};
    for (const auto& [pointer, given] : of_gpus)
        if (given)
            checker.error(
                pointer,
                "is for GPUs, and the workload is many_core; expected an experiment without it");
    for (std::size_t i = 0; i < experiment.scenarios.size(); ++i) {
        const ScenarioParams& scenario = experiment.scenarios[i];
        const std::pair<std::string_view, bool> parts[] = {
            {"all_reduce", scenario.all_reduce != CollectivePolicy()},
            {"collectives", scenario.collectives != CollectivePolicies()},
            {"max_ctas", scenario.max_ctas.has_value()},
            {"communication_sms", scenario.communication_sms.has_value()}};
        for (const auto& [name, given] : parts)
            if (given)
                checker.error(
                    fmt::format("/scenarios/{}/{}", i, name),
                    "is for collectives between GPUs, and many_core has none; expected name, "
                    "overlap and set");
    }
}

/// The workload against the device that runs it.
void check_use(const ManyCoreParams& workload, const SystemParams& system, ParamChecker& checker) {
    const DeviceParams* device = find_device(system.devices, workload.on);
    if (device == nullptr) {
        std::vector<std::string_view> names;
        for (const DeviceParams& one : system.devices)
            names.emplace_back(one.name);
        checker.error(
            "/workload/on",
            fmt::format(
                "is \"{}\", which is not a device of {}{}; expected one of: {}", workload.on,
                system.name, did_you_mean(workload.on, names), fmt::join(names, ", ")));
        return;
    }
    const ProcessorParams& used = *device->processor;
    const std::uint32_t cores = workload.cores.value_or(cores_for_programs(*device));
    if (cores > used.cores)
        checker.error(
            "/workload/cores",
            fmt::format(
                "is {}, and {} has {}; expected at most those", cores, used.name, used.cores));
    else if (workload.team_cores.value_or(1) > cores)
        checker.error(
            "/workload/team_cores",
            fmt::format(
                "is {}, and {} cores of {} are in use; expected at most those",
                *workload.team_cores, cores, used.name));
    if (workload.threads_per_core && *workload.threads_per_core > used.threads_per_core)
        checker.error(
            "/workload/threads_per_core",
            fmt::format(
                "is {}, and a core of {} has {}; expected at most those",
                *workload.threads_per_core, used.name, used.threads_per_core));
}

void check_many_core(const Experiment& experiment, ParamChecker& checker) {
    const SystemParams& system = *experiment.system;
    if (system.has_gpus()) {
        checker.error(
            "/workload/type",
            fmt::format(
                "is many_core, which runs on a many-core coprocessor or its host, and {} has GPUs; "
                "expected a system with devices, or a workload on GPUs",
                system.name));
        return;
    }
    check_use(*workload_of<ManyCoreParams>(experiment), system, checker);
    check_unused(experiment, checker);
}

class ManyCoreKind final : public WorkloadKind {
public:
    ManyCoreKind() :
        WorkloadKind(
            {.name = ManyCoreParams::kType,
             .on_gpus = false,
             .shares_machine = false,
             .has_ranks = false,
             .has_rank_timelines = false,
             .told = Told::kRegions}) {}

    /// The device exists and has what the workload uses, and nothing of GPUs is given.
    void check(const Experiment& experiment, ParamChecker& checker) const override {
        check_many_core(experiment, checker);
    }
    /// Transfers in sequence with compute, and beside it.
    [[nodiscard]] std::vector<ScenarioParams>
    default_scenarios(const Experiment& /*experiment*/) const override {
        return {{"serial", false, {}}, {"hidden", true, {}}};
    }
    [[nodiscard]] std::string tables(const ExperimentResult& result) const override {
        return figures_table(result, false) + "\nforward, backward: the phase's parallel regions. "
                                              "Per step. Speed-up: in samples per "
                                              "second, over\nthe first scenario without overlap.\n";
    }
    [[nodiscard]] std::unique_ptr<ExperimentRun>
    start(const LoadedExperiment& loaded, const RunOptions& options) const override {
        return many_core_run(loaded, options);
    }
};

}  // namespace

const WorkloadKind& kind_of(const ManyCoreParams& /*params*/) {
    static const ManyCoreKind kKind;
    return kKind;
}

}  // namespace switchfold
