// SPDX-License-Identifier: Apache-2.0
#include "sim/config/load.h"

#include "core/fnv.h"
#include "core/named_path.h"
#include "models/collectives/choice/named_policies.h"
#include "sim/config/block_checks.h"
#include "sim/config/changed_system.h"
#include "sim/config/many_core_checks.h"
#include "sim/config/parameter_units.h"
#include "sim/config/rank_gpus.h"
#include "sim/config/scenario_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace switchfold {

namespace {

/// Writes the effective configuration. Paths are kept as written, because the dump must not depend
/// on the repository's location. A scenario's `set` is written as read; objects from files are
/// written out in full.
void write_out(LoadedExperiment& loaded) {
    OrderedJson json = write_value(loaded.experiment);
    // What nobody set leaves no trace, so that a result has the digest that it had before there was
    // an environment.
    if (json.contains("scenarios"))
        for (OrderedJson& scenario : json["scenarios"])
            if (scenario.value("nccl_environment", OrderedJson::object()).empty())
                scenario.erase("nccl_environment");
    // The file would no longer tell a changed GPU from the one that a trace was recorded on.
    const auto name_traced_machine = [&](OrderedJson& workload) {
        if (workload.value("type", "") == TraceWorkloadParams::kType &&
            workload["traced_on"].is_null())
            workload["traced_on"] = write_value(*loaded.described);
    };
    if (loaded.described && json.contains("workload"))
        name_traced_machine(json["workload"]);
    if (loaded.described && json.contains("workloads"))
        for (OrderedJson& placed : json["workloads"])
            name_traced_machine(placed["workload"]);
    for (std::size_t i = 0; i < loaded.changed.size(); ++i) {
        if (!loaded.changed[i])
            continue;
        const OrderedJson made = write_value(*loaded.changed[i]);
        for (auto& [pointer, value] : json["scenarios"][i]["set"].items())
            if (const OrderedJson::json_pointer at(pointer); made.contains(at))
                value = made.at(at);
    }
    loaded.effective_config = json.dump(2) + "\n";
    loaded.digest = fmt::format("{:016x}", Fnv().add(loaded.effective_config).value());
}

void check_components(
    const SystemParams& system, const std::vector<FaultParams>& faults, ParamChecker& checker) {
    if (faults.empty())
        return;
    for (const auto& [index, why] : check_faults(build_topology(system.topology), faults))
        checker.error(fmt::format("/faults/{}/component", index), why);
}

}  // namespace

namespace {

std::string_view type_of(const Workload& workload) {
    return std::visit(
        []<class Params>(const Params& /*workload*/) { return Params::kType; }, workload);
}

/// Rejects ranks that occur twice, in one list or in two.
void check_ranks(const Experiment& experiment, ParamChecker& checker) {
    const std::uint32_t gpus = build_topology(experiment.system->topology).gpus();
    std::map<std::uint32_t, const PlacedWorkloadParams*> taken;
    for (std::size_t i = 0; i < experiment.workloads.size(); ++i) {
        const PlacedWorkloadParams& w = experiment.workloads[i];
        const std::string pointer = fmt::format("/workloads/{}/on", i);
        if (!std::ranges::is_sorted(w.on.ranks, std::less_equal<>()))
            checker.error(pointer, "does not ascend; expected each rank once, the lowest first");
        for (const std::uint32_t rank : w.on.ranks) {
            if (rank >= gpus)
                checker.error(
                    pointer, fmt::format(
                                 "has rank {}, and {} has {} GPUs; expected ranks below that", rank,
                                 experiment.system->name, gpus));
            const auto [at, fresh] = taken.try_emplace(rank, &w);
            if (!fresh && at->second != &w)
                checker.error(
                    pointer, fmt::format(
                                 "has rank {}, on which \"{}\" runs; expected GPUs of its own",
                                 rank, at->second->name));
        }
    }
}

void check_workloads(const Experiment& experiment, ParamChecker& checker) {
    if (experiment.workload.has_value() == !experiment.workloads.empty())
        checker.error(
            "", experiment.workload ? "has workload and workloads; expected one of the two"
                                    : "has no workload; expected workload, or workloads");
    std::set<std::string> names;
    for (std::size_t i = 0; i < experiment.workloads.size(); ++i)
        if (const std::string& name = experiment.workloads[i].name; !names.insert(name).second)
            checker.error(
                fmt::format("/workloads/{}/name", i),
                fmt::format("\"{}\" is given twice; expected each name once", name));
    if (experiment.workloads.empty())
        return;
    for (const WorkloadAt& at : workloads_of(experiment))
        for (const std::string_view alone :
             {ManyCoreParams::kType, KernelBesideCollectiveParams::kType})
            if (type_of(at.workload) == alone)
                checker.error(
                    at.pointer + "/type",
                    fmt::format(
                        "is {}, which shares no machine; expected it as the only workload", alone));
    check_ranks(experiment, checker);
    if (experiment.learning)
        checker.error(
            "/learning", "follows the passes of one workload; expected workload, not workloads");
    if (experiment.run)
        checker.error("/run", "changes members of one workload; expected workload, not workloads");
}

}  // namespace

void SystemParams::check(ParamChecker& checker) const {
    if (!has_gpus()) {
        // The reader sees what stands beside the devices; a file named by $base may have GPUs too.
        if (!gpu->name.empty())
            checker.error(
                "/devices", "is given over a system of GPUs; expected one without, or no devices");
        check_devices(devices, checker);
        return;
    }
    if (gpu->name.empty())
        checker.error("/devices", "is empty; expected at least one, or GPUs");
    if (!gpus.empty())
        check_kinds(gpus, build_topology(topology).gpus(), checker);
    check_blocks(*gpu, *collectives, checker);
    for (const GpuKindParams& kind : gpus)
        check_blocks(*kind.gpu, *collectives, checker);
    check_components(*this, faults, checker);
    check_places(*topology, checker);
}

CollectivePolicies ScenarioParams::policies() const {
    CollectivePolicies all = collectives;
    if (!all.all_reduce)
        all.all_reduce = all_reduce;
    // In a partition of the SMs, each block of a kernel takes one SM.
    const std::uint32_t most = communication_sms.value_or(UINT32_MAX);
    if (max_ctas || communication_sms)
        all.most_blocks = std::min(max_ctas.value_or(most), most);
    return nccl_environment.applied_to(std::move(all));
}

void ScenarioParams::check(ParamChecker& checker) const {
    check_policy(CollectiveKind::kAllReduce, all_reduce, checker);
    if (collectives.all_reduce && all_reduce != CollectivePolicy())
        checker.error(
            "/collectives/all_reduce",
            "is given, and all_reduce beside it; expected one of the two");
    for (const auto& [pointer, value] : set)
        if (const std::string why = why_not_set(pointer); !why.empty())
            checker.error("/set/" + escape_token(pointer), why);
}

void Experiment::check(ParamChecker& checker) const {
    if (!system->has_gpus() || workload_of<ManyCoreParams>(*this) != nullptr) {
        check_many_core(*this, checker);
        return;
    }
    check_workloads(*this, checker);
    const bool fast = may_leave_out() == Fidelity::kFast || approximate;
    if (fast && (exact || functional))
        checker.error(
            approximate ? "/approximate" : "/fidelity",
            fmt::format(
                "cannot be combined with {}, which needs every rank; expected one of them",
                exact ? "exact" : "functional"));
    if (fidelity != Fidelity::kAuto && (exact || approximate))
        checker.error(
            exact ? "/exact" : "/approximate",
            "is given, and fidelity beside it; expected fidelity");
    if (!ranks.empty())
        check_slow_ranks(ranks, build_topology(system->topology).gpus(), checker);
    check_components(*system, faults, checker);
}

namespace {

/// With what the switches of several machines can do; check_scenarios() keeps what the workload's
/// groups can use.
std::vector<ScenarioParams>
with_switches_across(const Experiment& experiment, std::vector<ScenarioParams> scenarios) {
    if (build_topology(experiment.system->topology).machines() > 1)
        for (const NamedPolicy& across : policies_across_switches())
            scenarios.push_back({std::string(across.name), true, across.policy});
    return scenarios;
}

}  // namespace

std::vector<ScenarioParams> default_scenarios(const Experiment& experiment) {
    if (workload_of<ManyCoreParams>(experiment) != nullptr)
        return many_core_scenarios();
    const CollectivePolicy by_ring = ring_policy();
    CollectivePolicy by_switch = in_switch_policy();
    const ScenarioParams serial{"serial", false, by_ring};
    const ScenarioParams ring{"ring", true, by_ring};
    if (const auto* one = workload_of<CollectiveWorkloadParams>(experiment)) {
        if (one->collective != CollectiveKind::kAllReduce)
            return {ring};
        return with_switches_across(experiment, {ring, {"in_switch", true, by_switch}});
    }
    if (workload_of<ExpertsWorkloadParams>(experiment) != nullptr)
        return {{"deepep_normal", true, {}}};
    if (const auto* loops = workload_of<KernelBesideCollectiveParams>(experiment)) {
        const ScenarioParams automatic{"auto", true, {}};
        switch (loops->collective) {
        case CollectiveKind::kAllReduce:
            return with_switches_across(
                experiment, {ring, automatic, {"in_switch", true, by_switch}});
        case CollectiveKind::kReduceScatter:
        case CollectiveKind::kAllGather:
            return {ring, automatic, {"in_switch", true, by_switch}};
        default:
            return {automatic};
        }
    }
    // Training frameworks that use in-switch reduction register their gradient buckets; nccl-tests
    // by default does not.
    by_switch.registered = true;
    if (!experiment.workloads.empty())
        return {ring, {"in_switch", true, by_switch}};
    return with_switches_across(experiment, {serial, ring, {"in_switch", true, by_switch}});
}

namespace {

/// Completes an experiment and checks it across its parts.
class Completer {
public:
    Completer(Experiment experiment, const std::filesystem::path& file) {
        loaded_.file = file;
        loaded_.default_scenarios = experiment.scenarios.empty();
        if (loaded_.default_scenarios)
            experiment.scenarios = default_scenarios(experiment);
        loaded_.experiment = std::move(experiment);
    }

    LoadedExperiment
    run(std::vector<std::shared_ptr<const Experiment>> changed, std::vector<Problem> problems) {
        loaded_.changed = std::move(changed);
        problems_ = std::move(problems);
        check_names();
        check_files(
            loaded_.experiment, [this](const Problem& problem) { problems_.push_back(problem); });
        for (std::size_t i = 0; i < scenarios().size(); ++i) {
            if (&loaded_.of(i) != &loaded_.experiment)
                check_change(i);
            check_partition(i);
        }
        if (!problems_.empty())
            throw ConfigError(std::move(problems_));
        write_out(loaded_);
        return std::move(loaded_);
    }

private:
    [[nodiscard]] const std::vector<ScenarioParams>& scenarios() const {
        return loaded_.experiment.scenarios;
    }
    [[nodiscard]] Problem problem(const std::string& pointer, const std::string& message) const {
        return {loaded_.file.string(), pointer, message};
    }
    void fail(const std::string& pointer, const std::string& message) {
        problems_.push_back(problem(pointer, message));
    }

    void check_names() {
        std::set<std::string> names;
        for (std::size_t i = 0; i < scenarios().size(); ++i)
            if (!names.insert(scenarios()[i].name).second)
                fail(
                    fmt::format("/scenarios/{}/name", i),
                    fmt::format(
                        "\"{}\" is given twice; expected each name once", scenarios()[i].name));
    }

    template <class Tell>
    void check_file(
        const std::string& pointer, const std::filesystem::path& written, std::string_view what,
        const Tell& tell) {
        const auto path = path_named_in(loaded_.file, written);
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(path, ignored))
            tell(problem(
                pointer,
                fmt::format("names {}, which does not exist; expected {}", path.string(), what)));
    }

    template <class Tell>
    void check_files(const Experiment& experiment, const Tell& tell) {
        for (const WorkloadAt& at : workloads_of(experiment)) {
            for (const NamedFile& file : files_of(at.workload))
                check_file(at.pointer + file.pointer, file.path, file.what, tell);
            const auto* trace = std::get_if<TraceWorkloadParams>(&at.workload);
            if (trace != nullptr && trace->files.empty())
                tell(problem(at.pointer + "/files", "is empty; expected at least one trace"));
            if (trace != nullptr && trace->traced_on && !(*trace->traced_on)->has_gpus())
                tell(problem(
                    at.pointer + "/traced_on",
                    fmt::format(
                        "names {}, which has no GPUs; expected the machine of the trace",
                        (*trace->traced_on)->name)));
        }
    }

    /// Checks the experiment that results from a scenario's `set`.
    void check_change(std::size_t scenario) {
        const Experiment& made = loaded_.of(scenario);
        const auto tell = [&](const Problem& problem) {
            problems_.push_back(
                blamed_on_set(problem, loaded_.file.string(), scenarios()[scenario].set, scenario));
        };
        // Parts shared with the experiment have been checked already.
        if (write_value(made.workload) != write_value(loaded_.experiment.workload) ||
            write_value(made.workloads) != write_value(loaded_.experiment.workloads))
            check_files(made, tell);
        const std::vector<WorkloadAt> now = workloads_of(made);
        const std::vector<WorkloadAt> before = workloads_of(loaded_.experiment);
        for (std::size_t i = 0; i < std::min(now.size(), before.size()); ++i)
            if (now[i].workload.index() != before[i].workload.index())
                tell(problem(
                    now[i].pointer + "/type",
                    "is not the experiment's; expected the same, since one table compares all "
                    "scenarios"));
    }

    void check_partition(std::size_t scenario) {
        const auto& own = scenarios()[scenario].communication_sms;
        if (!own)
            return;
        const RankGpus gpus(*loaded_.of(scenario).system);
        const GpuParams& gpu = *std::ranges::min(gpus.kinds(), {}, &GpuParams::sms);
        if (*own >= gpu.sms)
            fail(
                fmt::format("/scenarios/{}/communication_sms", scenario),
                fmt::format(
                    "is {}, which leaves kernels none of the {} SMs of {}; expected at most {}",
                    *own, gpu.sms, gpu.name, gpu.sms - 1));
    }

    LoadedExperiment loaded_;
    std::vector<Problem> problems_;
};

}  // namespace

LoadedExperiment complete_experiment(Experiment experiment, const std::filesystem::path& file) {
    SWITCHFOLD_CHECK(
        std::all_of(
            experiment.scenarios.begin(), experiment.scenarios.end(),
            [](const ScenarioParams& scenario) { return scenario.set.empty(); }),
        "a scenario sets something in an experiment that was not read");
    return Completer(std::move(experiment), file).run({}, {});
}

namespace {

/// Whether a workload's graph depends on how its collectives run: passes of a folded plan and
/// counts of loops are measured beside them.
bool follows_communication(const Experiment& experiment) {
    if (workload_of<KernelBesideCollectiveParams>(experiment) != nullptr)
        return true;
    const auto* training = workload_of<TrainingWorkloadParams>(experiment);
    return training != nullptr && training->plan && training->plan->fold;
}

/// Whether two scenarios have equal collectives.
bool same_communication(const LoadedExperiment& loaded, std::size_t a, std::size_t b) {
    const ScenarioParams& x = loaded.experiment.scenarios[a];
    const ScenarioParams& y = loaded.experiment.scenarios[b];
    return x.policies() == y.policies() && x.communication_sms == y.communication_sms;
}

}  // namespace

std::vector<Variant> variants_of(const LoadedExperiment& loaded) {
    std::vector<Variant> variants;
    for (std::size_t i = 0; i < loaded.experiment.scenarios.size(); ++i) {
        const Experiment* experiment = &loaded.of(i);
        const auto same = std::find_if(variants.begin(), variants.end(), [&](const Variant& v) {
            return v.experiment == experiment &&
                   (!follows_communication(*experiment) ||
                    same_communication(loaded, v.scenarios.front(), i));
        });
        if (same != variants.end())
            same->scenarios.push_back(i);
        else
            variants.push_back({experiment, {i}});
    }
    return variants;
}

void leave_out(LoadedExperiment& loaded, const std::set<std::string>& scenarios) {
    std::erase_if(loaded.experiment.scenarios, [&](const ScenarioParams& scenario) {
        return scenarios.contains(scenario.name);
    });
    write_out(loaded);
}

namespace {

/// The system as its file describes it. A file that is complete only with the changes describes
/// no GPU of its own.
std::shared_ptr<const SystemParams> without_changed_gpus(const WrittenExperiment& written) {
    std::vector<Override> others;
    for (const Override& change : written.overrides)
        if (!change.pointer.starts_with("/system/gpu"))
            others.push_back(change);
    if (others.size() == written.overrides.size())
        return nullptr;
    try {
        Experiment described = read_experiment({written.json, written.file, others});
        return std::make_shared<const SystemParams>(std::move(*described.system));
    } catch (const ConfigError&) {
        return nullptr;
    }
}

}  // namespace

LoadedExperiment
load_experiment(const std::filesystem::path& file, std::span<const Override> overrides) {
    return load_experiment(load_json(file), file, overrides);
}

LoadedExperiment load_experiment(
    const Json& json, const std::filesystem::path& file, std::span<const Override> overrides) {
    const WrittenExperiment written{json, file, overrides};
    std::vector<Problem> problems;
    Experiment experiment;
    std::vector<std::string> notes;
    try {
        experiment = read_experiment(written, &notes);
    } catch (const ConfigError& error) {
        problems = error.problems();
        static_cast<void>(apply_sets(written, written_sets(written), problems, notes));
        throw ConfigError(std::move(problems));
    }
    std::vector<ScenarioSet> sets;
    for (const ScenarioParams& scenario : experiment.scenarios) {
        sets.push_back(scenario.set);
        for (const auto& [pointer, value] :
             NcclEnvironment::values_of(write_value(scenario.nccl_environment)))
            sets.back().emplace(pointer, AnyValue{Json::parse(value)});
    }
    auto changed = apply_sets(written, sets, problems, notes);
    LoadedExperiment loaded =
        Completer(std::move(experiment), file).run(std::move(changed), std::move(problems));
    loaded.notes = std::move(notes);
    loaded.described = without_changed_gpus(written);
    if (loaded.described)
        write_out(loaded);
    return loaded;
}

SystemParams load_system(const std::filesystem::path& file, std::span<const Override> overrides) {
    SystemParams system = load_any_system(file, overrides);
    if (!system.has_gpus())
        throw ConfigError(
            file.string(), "/devices",
            fmt::format("{} has no GPUs; expected a system with GPUs", system.name));
    return system;
}

SystemParams
load_any_system(const std::filesystem::path& file, std::span<const Override> overrides) {
    return read_params_file<SystemParams>(file, overrides);
}

OrderedJson system_json(const SystemParams& system) {
    return write_value(system);
}

SystemParams changed_system(const SystemParams& system, std::span<const Override> changes) {
    Json json = system_json(system);
    for (const Override& change : changes) {
        const Json::json_pointer at(change.pointer);
        if (!json.contains(at))
            throw ConfigError(
                system.name, change.pointer, "does not exist; expected a parameter of the system");
        json[at] = change.value;
    }
    return read_params<SystemParams>(json, system.name);
}

}  // namespace switchfold
