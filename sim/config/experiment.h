// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/any_value.h"
#include "core/boxed.h"
#include "core/params.h"
#include "interconnect/faults.h"
#include "models/collectives/choice/policies.h"
#include "models/collectives/choice/tuning.h"
#include "models/fidelity.h"
#include "sim/config/jitter_params.h"
#include "sim/config/memory_check_params.h"
#include "sim/config/nccl_environment.h"
#include "sim/config/system_params.h"
#include "sim/config/unequal_params.h"
#include "sim/config/workload.h"
#include "sim/kinds/shared_machine/placed_workload_params.h"
#include "sim/machine/watchdog.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

struct LearningParams;
struct PlannerParams;
struct RunParams;

struct ScenarioParams {
    std::string name;
    bool overlap = true;
    CollectivePolicy all_reduce;
    CollectivePolicies collectives = {};
    std::optional<std::uint32_t> max_ctas = {};
    std::optional<std::uint32_t> communication_sms = {};
    std::map<std::string, AnyValue> set = {};
    NcclEnvironment nccl_environment = {};
    /// Including the scenario's limit on blocks.
    [[nodiscard]] CollectivePolicies policies() const;
    void check(ParamChecker& checker) const;
    static constexpr auto fields() {
        return list_of(
            field("name", &ScenarioParams::name, "Name in reports.").required(),
            field(
                "overlap", &ScenarioParams::overlap,
                "Collectives may overlap compute; false: they run one after the other."),
            field(
                "all_reduce", &ScenarioParams::all_reduce,
                "How all-reduces run, and other collectives as far as possible."),
            field(
                "collectives", &ScenarioParams::collectives,
                "How collectives run, by kind; kinds without an entry follow all_reduce as far as "
                "possible."),
            field(
                "max_ctas", &ScenarioParams::max_ctas,
                "Limit on thread blocks (CTAs) of every communication kernel; NCCL's maxCTAs. "
                "Absent: the limit of the rules and policies.",
                1U, 1024U),
            field(
                "communication_sms", &ScenarioParams::communication_sms,
                "SMs of each GPU reserved for communication, as by a green context: compute "
                "kernels cannot use them, communication uses no others, and a communication kernel "
                "has at most one block per reserved SM. Absent: compute and communication share "
                "all SMs.",
                1U, 4095U),
            field(
                "set", &ScenarioParams::set,
                "Other values of the experiment that this scenario replaces, by JSON pointer: "
                "{\"/workload/bucket\": \"50 MiB\"}."),
            field(
                "nccl_environment", &ScenarioParams::nccl_environment,
                "NCCL's environment variables, those that change what is simulated "
                "(docs/programs.md#nccls-environment): {\"NCCL_ALGO\": \"^NVLS\"}."));
    }
};

struct Experiment {
    std::string name;
    PathOr<SystemParams> system;
    std::optional<Workload> workload;
    std::vector<PlacedWorkloadParams> workloads;
    std::vector<ScenarioParams> scenarios;
    MemoryCheck memory = MemoryCheck::kCheck;
    bool functional = false;
    std::uint64_t seed = 1;
    bool causes = true;
    bool exact = false;
    bool approximate = false;
    Fidelity fidelity = Fidelity::kAuto;
    std::vector<FaultParams> faults;
    LimitParams limits;
    Boxed<LearningParams> learning;
    std::vector<SlowRankParams> ranks;
    PathOr<JitterParams> jitter;
    Boxed<PlannerParams> planner;
    Boxed<RunParams> run;

    /// What simulations may leave out.
    [[nodiscard]] Fidelity may_leave_out() const {
        return exact ? Fidelity::kExact : (approximate ? Fidelity::kFast : fidelity);
    }
    static constexpr auto fields() {
        return list_of(
            field("name", &Experiment::name, "Name of the experiment in reports.").required(),
            field("system", &Experiment::system, "The machine, or the file that describes it.")
                .required(),
            field("workload", &Experiment::workload, "The workload of the machine."),
            field(
                "workloads", &Experiment::workloads,
                "Several workloads, each on its own GPUs, that share the rest of the machine "
                "(docs/scenarios.md). Instead of workload."),
            field(
                "scenarios", &Experiment::scenarios,
                "Ways to run it. Default: serial, ring and in_switch, or between machines "
                "in_switch_tree and collnet (a collective: without serial; a kernel "
                "beside one: ring, auto and in_switch; experts: deepep_normal). What the machine "
                "does not support is left out, with a note if "
                "nothing through switches remains."),
            field(
                "memory", &Experiment::memory,
                "check: a workload that needs more memory than its GPUs' capacity minus their "
                "reserve is refused, with the largest batch that fits; ignore: it runs, and the "
                "result says what it lacks (docs/memory_plans.md#what-is-counted)."),
            field(
                "functional", &Experiment::functional,
                "Collectives carry real numbers, and every result is checked."),
            field(
                "seed", &Experiment::seed,
                "Seed of all random values: the numbers of functional mode, bit errors."),
            field(
                "causes", &Experiment::causes,
                "Find the causes of the slowdown: runs each scenario again with each mechanism "
                "switched off."),
            field("exact", &Experiment::exact, "The same as fidelity exact."),
            field("approximate", &Experiment::approximate, "The same as fidelity fast."),
            field(
                "fidelity", &Experiment::fidelity,
                "exact: every transfer of every rank is simulated. auto: long collectives skip "
                "their repetitive parts, one like an earlier one passes as that did, and ranks "
                "that do the same run on a few of them, where that changes times by less than a "
                "quarter of the model's own error. fast: also where it changes them by up to 9 %, "
                "and a step's packets are 32 KiB. Notes say what was approximated "
                "(docs/scenarios.md#fidelity)."),
            field(
                "faults", &Experiment::faults,
                "Faults in addition to the system's own, present from the start or occurring "
                "during the run."),
            field(
                "limits", &Experiment::limits,
                "Limits at which a simulation is aborted (exit code 3)."),
            field(
                "learning", &Experiment::learning,
                "Train a small network with the weight versions that the passes of the simulated "
                "plan see (docs/learning.md)."),
            field(
                "ranks", &Experiment::ranks,
                "Ranks that are slower or start later than their GPUs imply "
                "(docs/plans.md#unequal-gpus)."),
            field(
                "jitter", &Experiment::jitter,
                "How far GPUs of one kind and their kernels differ, or the file with it "
                "(configs/jitter). Absent: not at all (docs/plans.md#jitter)."),
            field(
                "planner", &Experiment::planner,
                "The plans that `switchfold plan` chooses from (docs/planner.md); `run` ignores "
                "it."),
            field(
                "run", &Experiment::run,
                "A run of many steps in which GPUs join and leave (docs/elastic.md)."));
    }
    void check(ParamChecker& checker) const;
};

/// A workload and its pointer in the experiment, for example "/workload".
struct WorkloadAt {
    std::string pointer;
    const Workload& workload;
};
/// The single workload, or all that share the machine.
[[nodiscard]] std::vector<WorkloadAt> workloads_of(const Experiment& experiment);

/// The experiment's only workload, if it is of this kind; else null.
template <class Params>
[[nodiscard]] const Params* workload_of(const Experiment& experiment) {
    return experiment.workload ? experiment.workload->as<Params>() : nullptr;
}
template <class Params>
[[nodiscard]] Params* workload_of(Experiment& experiment) {
    return experiment.workload ? experiment.workload->as<Params>() : nullptr;
}

}  // namespace switchfold
