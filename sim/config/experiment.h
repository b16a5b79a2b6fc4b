// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/any_value.h"
#include "core/params.h"
#include "core/params_alternative.h"
#include "interconnect/faults.h"
#include "interconnect/topology_builder.h"
#include "models/collectives/choice/policies.h"
#include "models/collectives/choice/tuning.h"
#include "models/collectives/parameters.h"
#include "models/fidelity.h"
#include "models/gpu/parameters.h"
#include "sim/config/device_params.h"
#include "sim/config/experts_params.h"
#include "sim/config/jitter_params.h"
#include "sim/config/kernel_beside_params.h"
#include "sim/config/learning_params.h"
#include "sim/config/many_core_params.h"
#include "sim/config/memory_check_params.h"
#include "sim/config/nccl_environment.h"
#include "sim/config/planner_params.h"
#include "sim/config/rank_list.h"
#include "sim/config/run_params.h"
#include "sim/config/training_params.h"
#include "sim/config/unequal_params.h"
#include "sim/config/workload_names.h"
#include "sim/machine/watchdog.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace switchfold {

/// A machine: its GPUs, their interconnect, and the parameters of collectives; or a host and its
/// many-core coprocessors.
struct SystemParams {
    std::string name;
    std::vector<DeviceParams> devices;  ///< instead of all that follows
    PathOr<GpuParams> gpu;
    std::vector<GpuKindParams> gpus;  ///< for ranks with a different GPU; see RankGpus
    PathOr<TopologyParams> topology;
    PathOr<CollectiveParams> collectives;
    std::vector<std::string> measured_as;
    std::vector<FaultParams> faults;
    static constexpr Alternative kAlternative{"devices", "name"};
    static constexpr auto fields() {
        return list_of(
            field("name", &SystemParams::name, "Name of the machine in reports.").required(),
            field(
                "devices", &SystemParams::devices,
                "Sockets of a host and its many-core coprocessors, instead of GPUs and all that "
                "belongs to them (docs/coprocessor.md)."),
            field(
                "gpu", &SystemParams::gpu,
                "The GPU, or the file that describes it. Required without devices.")
                .required(),
            field(
                "gpus", &SystemParams::gpus,
                "Ranks with a different GPU (docs/plans.md#unequal-gpus)."),
            field(
                "topology", &SystemParams::topology,
                "Interconnect of the GPUs, or the file with its description (FILE, or "
                "SYSTEM.json#/topology). Required without devices.")
                .required(),
            field(
                "collectives", &SystemParams::collectives,
                "Parameters of collectives, or the file with them (SYSTEM.json#/collectives)."),
            field(
                "measured_as", &SystemParams::measured_as,
                "Descriptions of such machines in tables of measurements, one text per wording of "
                "GPU and interconnect. `validate` selects the system by them."),
            field(
                "faults", &SystemParams::faults,
                "Faults, present from the start or occurring during the run."));
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] bool has_gpus() const { return devices.empty(); }
};

/// Traces in any supported format, one file per rank, or one that represents all ranks.
struct TraceWorkloadParams {
    static constexpr std::string_view kType = "trace";
    std::vector<std::string> files;
    std::uint32_t ranks = 0;
    std::optional<Peers> peers;
    std::optional<PathOr<SystemParams>> traced_on;
    std::optional<TracedTimes> kernel_times;
    static constexpr auto fields() {
        return list_of(
            field(
                "files", &TraceWorkloadParams::files,
                "Traces, relative to this file, one per rank: Kineto, Nsight Systems, Chakra, "
                "PyTorch's execution traces and flight recorder, rocprofv3, captures, NCCL "
                "Inspector, logs and JSON of nccl-tests and rccl-tests, switchfold's own.")
                .required(),
            field(
                "ranks", &TraceWorkloadParams::ranks,
                "Ranks of the run; 0: those of the trace. Required if the files are fewer than the "
                "ranks that they stand for: process groups of one rank's trace then repeat by "
                "their strides.",
                0U, 65'536U),
            field(
                "peers", &TraceWorkloadParams::peers,
                "If one trace stands for all ranks: as_traced, the others arrive at each "
                "collective as late as its residence in the trace shows; together, no rank is ever "
                "late. Default: as_traced if a real run's trace has residences. Traces of all "
                "ranks show each rank's own lateness."),
            field(
                "traced_on", &TraceWorkloadParams::traced_on,
                "The machine that the trace was recorded on, or the file that describes it. It "
                "tells what the trace leaves open: sizes of collectives from their durations, and "
                "how late peers came; and on which GPU its kernels took their times. Default: the "
                "experiment's system, if its file describes the traced GPU."),
            field(
                "kernel_times", &TraceWorkloadParams::kernel_times,
                "Durations of the trace's kernels alone on a GPU that differs from the traced one: "
                "rescaled, by the ratio of the modelled times on the two GPUs "
                "(docs/contention.md#a-kernel-alone); as_traced, the trace's. Default: rescaled if "
                "the traced "
                "GPU is known and another. On the traced GPU both are the trace's, exactly."));
    }
};

/// A single collective.
struct CollectiveWorkloadParams {
    static constexpr std::string_view kType = "collective";
    CollectiveKind collective = CollectiveKind::kAllReduce;
    Bytes size = mebibytes(256);
    Datatype datatype = Datatype::kFloat32;
    std::uint32_t ranks = 0;
    static constexpr auto fields() {
        return list_of(
            field("collective", &CollectiveWorkloadParams::collective, "Kind of the collective."),
            field(
                "size", &CollectiveWorkloadParams::size,
                "Payload of one rank, as nccl-tests counts it.", Bytes(1), Bytes(1ULL << 40U))
                .required(),
            field("datatype", &CollectiveWorkloadParams::datatype, "Type of its elements."),
            field(
                "ranks", &CollectiveWorkloadParams::ranks,
                "Participating GPUs, from rank 0; 0: all.", 0U, 65'536U));
    }
};

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

using Workload = std::variant<
    TraceWorkloadParams, CollectiveWorkloadParams, TrainingWorkloadParams, ExpertsWorkloadParams,
    KernelBesideCollectiveParams, ManyCoreParams>;

/// One of several workloads that share a machine.
struct PlacedWorkloadParams {
    std::string name;
    RankList on;
    Time start;
    std::uint32_t steps = 0;
    Workload workload;
    static constexpr auto fields() {
        return list_of(
            field("name", &PlacedWorkloadParams::name, "Name in reports.").required(),
            field("on", &PlacedWorkloadParams::on, "Its GPUs; rank 0 runs on the first.")
                .required(),
            field(
                "start", &PlacedWorkloadParams::start,
                "Delay of its start after the start of the run.", Time(),
                microseconds(3'600'000'000)),
            field(
                "steps", &PlacedWorkloadParams::steps,
                "Number of consecutive repetitions; 0: until the longest workload has run once.",
                0U, 4096U),
            field("workload", &PlacedWorkloadParams::workload, "The workload on these GPUs.")
                .required());
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
    std::optional<LearningParams> learning;
    std::vector<SlowRankParams> ranks;
    PathOr<JitterParams> jitter;
    std::optional<PlannerParams> planner;
    std::optional<RunParams> run;

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
    return experiment.workload ? std::get_if<Params>(&*experiment.workload) : nullptr;
}

/// A file that a workload names, with the pointer: "/table".
struct NamedFile {
    std::string pointer;
    std::string path;  ///< relative to the experiment's file
    std::string_view what;
};
[[nodiscard]] std::vector<NamedFile> files_of(const Workload& workload);

/// Scenarios of an experiment that defines none.
[[nodiscard]] std::vector<ScenarioParams> default_scenarios(const Experiment& experiment);

}  // namespace switchfold
