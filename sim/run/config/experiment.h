// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/faults.h"
#include "interconnect/topology_builder.h"
#include "models/collectives/choice/policies.h"
#include "models/collectives/choice/tuning.h"
#include "models/collectives/parameters.h"
#include "models/gpu/parameters.h"
#include "sim/core/any_value.h"
#include "sim/core/params.h"
#include "sim/run/config/experts_params.h"
#include "sim/run/config/learning_params.h"
#include "sim/run/config/many_core_params.h"
#include "sim/run/config/planner_params.h"
#include "sim/run/config/rank_list.h"
#include "sim/run/config/run_params.h"
#include "sim/run/config/training_params.h"
#include "sim/run/config/unequal_params.h"
#include "sim/run/config/workload_names.h"
#include "sim/run/machine/watchdog.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace switchfold {

/// A machine: its GPUs, their interconnect, and the parameters of collectives.
struct SystemParams {
    std::string name;
    PathOr<GpuParams> gpu;
    std::vector<GpuKindParams> gpus;  ///< for ranks with a different GPU; see RankGpus
    PathOr<TopologyParams> topology;
    PathOr<CollectiveParams> collectives;
    std::vector<std::string> measured_as;
    std::vector<FaultParams> faults;
    static constexpr auto fields() {
        return std::tuple{
            field("name", &SystemParams::name, "What reports call the machine.").required(),
            field("gpu", &SystemParams::gpu, "The GPU, or the file that describes it.").required(),
            field(
                "gpus", &SystemParams::gpus, "Ranks that have another GPU (docs/unequal_gpus.md)."),
            field(
                "topology",
                &SystemParams::topology,
                "How the GPUs are joined, or the file that says so (FILE, or "
                "SYSTEM.json#/topology).")
                .required(),
            field(
                "collectives",
                &SystemParams::collectives,
                "How collectives run on the GPUs, or the file that says so "
                "(SYSTEM.json#/collectives)."),
            field(
                "measured_as",
                &SystemParams::measured_as,
                "How tables of measurements describe such machines: GPU and interconnect in their "
                "words, one text a wording. `validate` finds the system by what these words "
                "mean."),
            field("faults", &SystemParams::faults, "What is broken, or breaks on the way.")};
    }
    void check(ParamChecker& checker) const;
};

/// Traces in any supported format, one file per rank, or one that represents all ranks.
struct TraceWorkloadParams {
    static constexpr std::string_view kType = "trace";
    std::vector<std::string> files;
    std::uint32_t ranks = 0;
    std::optional<Peers> peers;
    static constexpr auto fields() {
        return std::tuple{
            field(
                "files",
                &TraceWorkloadParams::files,
                "Traces, relative to this file, one a rank: Kineto, Nsight Systems, Chakra, "
                "PyTorch's "
                "execution traces, captures, nccl-tests logs, switchfold's own.")
                .required(),
            field(
                "ranks",
                &TraceWorkloadParams::ranks,
                "Ranks of the run; 0: those of the trace. One file stands for several ranks, or "
                "fewer files than ranks for all, only if this says how many.",
                0U,
                65'536U),
            field(
                "peers",
                &TraceWorkloadParams::peers,
                "Where one trace stands for all ranks: as_traced, the others come to each "
                "collective as late as its residence in the trace shows; together, no rank is ever "
                "late. Without it: as_traced where a real run's trace has residences. Where all "
                "ranks were traced they are as late as they are.")};
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
        return std::tuple{
            field("collective", &CollectiveWorkloadParams::collective, "Which one."),
            field(
                "size",
                &CollectiveWorkloadParams::size,
                "Payload of one rank, as nccl-tests counts it.",
                Bytes(1),
                Bytes(1ULL << 40U))
                .required(),
            field("datatype", &CollectiveWorkloadParams::datatype, "Type of its elements."),
            field(
                "ranks",
                &CollectiveWorkloadParams::ranks,
                "GPUs that take part, from rank 0; 0 takes all.",
                0U,
                65'536U)};
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
    /// Including the scenario's limit on blocks.
    [[nodiscard]] CollectivePolicies policies() const;
    void check(ParamChecker& checker) const;
    static constexpr auto fields() {
        return std::tuple{
            field("name", &ScenarioParams::name, "What reports call it.").required(),
            field(
                "overlap",
                &ScenarioParams::overlap,
                "Collectives may run beside compute; false puts them one after the other."),
            field(
                "all_reduce",
                &ScenarioParams::all_reduce,
                "How all-reduces run, and what else can run so."),
            field(
                "collectives",
                &ScenarioParams::collectives,
                "How collectives run, by kind; a kind that is not named follows all_reduce as far "
                "as "
                "it can."),
            field(
                "max_ctas",
                &ScenarioParams::max_ctas,
                "Most thread blocks (CTAs) of a communication kernel, whatever its kind; NCCL's "
                "maxCTAs. Without it: as many as the rules and policies say.",
                1U,
                1024U),
            field(
                "communication_sms",
                &ScenarioParams::communication_sms,
                "SMs of each GPU that communication has to itself, as by a green context: kernels "
                "may not use them, nor communication others, and a communication kernel has at "
                "most a block for each. Without it they share all SMs.",
                1U,
                4095U),
            field(
                "set",
                &ScenarioParams::set,
                "What else of the experiment is different in this scenario: values by their JSON "
                "pointers into the experiment, as {\"/workload/bucket\": \"50 MiB\"}.")};
    }
};

using Workload = std::variant<
    TraceWorkloadParams,
    CollectiveWorkloadParams,
    TrainingWorkloadParams,
    ExpertsWorkloadParams>;

/// One of several workloads that share a machine.
struct PlacedWorkloadParams {
    std::string name;
    RankList on;
    Time start;
    std::uint32_t steps = 0;
    Workload workload;
    static constexpr auto fields() {
        return std::tuple{
            field("name", &PlacedWorkloadParams::name, "What reports call it.").required(),
            field(
                "on",
                &PlacedWorkloadParams::on,
                "The GPUs that it runs on: its rank 0 on the first.")
                .required(),
            field(
                "start",
                &PlacedWorkloadParams::start,
                "How much later than the run's begin it begins.",
                Time(),
                microseconds(3'600'000'000)),
            field(
                "steps",
                &PlacedWorkloadParams::steps,
                "How often it runs one after the other; 0: as often as the longest needs for one "
                "time.",
                0U,
                4096U),
            field("workload", &PlacedWorkloadParams::workload, "What runs there.").required()};
    }
};

struct Experiment {
    std::string name;
    PathOr<SystemParams> system;
    std::optional<Workload> workload;
    std::vector<PlacedWorkloadParams> workloads;
    std::vector<ScenarioParams> scenarios;
    bool functional = false;
    std::uint64_t seed = 1;
    bool causes = true;
    bool exact = false;
    std::vector<FaultParams> faults;
    LimitParams limits;
    std::optional<LearningParams> learning;
    std::vector<SlowRankParams> ranks;
    std::optional<PlannerParams> planner;
    std::optional<RunParams> run;
    std::optional<ManyCoreParams> many_core;
    static constexpr auto fields() {
        return std::tuple{
            field("name", &Experiment::name, "What reports call the experiment.").required(),
            field(
                "system",
                &Experiment::system,
                "The machine, or the file that describes it. Without many_core it must be there."),
            field("workload", &Experiment::workload, "What runs on it."),
            field(
                "workloads",
                &Experiment::workloads,
                "Several that run on GPUs of their own and share the rest of the machine "
                "(docs/shared_machine.md). Instead of workload."),
            field(
                "scenarios",
                &Experiment::scenarios,
                "Ways to run it; without any: serial, ring and in_switch (a collective: ring and "
                "in_switch; experts: deepep_normal). The last is left out, with a note, where the "
                "machine cannot."),
            field(
                "functional",
                &Experiment::functional,
                "Collectives carry real numbers, and every result is checked."),
            field(
                "seed",
                &Experiment::seed,
                "Of everything random: the numbers of functional mode, bit errors."),
            field(
                "causes",
                &Experiment::causes,
                "Find what the slowdown comes from: runs each scenario again with each mechanism "
                "off."),
            field(
                "exact",
                &Experiment::exact,
                "Carry out every transfer of every collective; else long ones leave out what they "
                "do over and over, and statistics count it."),
            field(
                "faults",
                &Experiment::faults,
                "What is broken, or breaks on the way, beside the system's own faults."),
            field("limits", &Experiment::limits, "When a simulation is given up (exit code 3)."),
            field(
                "learning",
                &Experiment::learning,
                "Train a small network with the weights that passes of the simulated plan see "
                "(docs/learning.md)."),
            field(
                "ranks",
                &Experiment::ranks,
                "Ranks that are slower, or come later, than their GPUs say "
                "(docs/unequal_gpus.md)."),
            field(
                "planner",
                &Experiment::planner,
                "The plans that `switchfold plan` chooses from (docs/planner.md); a run leaves it "
                "aside."),
            field(
                "run",
                &Experiment::run,
                "Many steps, in which GPUs come and go (docs/elastic.md)."),
            field(
                "many_core",
                &Experiment::many_core,
                "Training on a many-core coprocessor or its host instead of a workload on GPUs "
                "(docs/coprocessor.md).")};
    }
    void check(ParamChecker& checker) const;
    /// Whether a machine of GPUs is given; its name is a required field.
    [[nodiscard]] bool has_system() const { return !system->name.empty(); }
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
