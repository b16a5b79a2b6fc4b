// SPDX-License-Identifier: Apache-2.0
#include "sim/run/config/load.h"

#include "sim/core/fnv.h"
#include "sim/run/config/parameter_units.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string_view>

namespace switchfold {

namespace {

/// Paths stay as written: the dump must not depend on where the repository lies.
void write_out(LoadedExperiment& loaded) {
    loaded.effective_config = write_value(loaded.experiment).dump(2) + "\n";
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

void SystemParams::check(ParamChecker& checker) const {
    check_components(*this, faults, checker);
}

CollectivePolicies ScenarioParams::policies() const {
    CollectivePolicies all = collectives;
    if (!all.all_reduce)
        all.all_reduce = all_reduce;
    return all;
}

void ScenarioParams::check(ParamChecker& checker) const {
    check_policy(CollectiveKind::kAllReduce, all_reduce, checker);
    if (collectives.all_reduce && all_reduce != CollectivePolicy())
        checker.error(
            "/collectives/all_reduce",
            "is given, and all_reduce beside it; expected one of the two");
}

void ExpertsWorkloadParams::check(ParamChecker& checker) const {
    constexpr std::uint32_t kFloatScale = 128;
    constexpr std::uint32_t kByteScale = 16;
    if (top_k > experts)
        checker.error(
            "/top_k",
            fmt::format("is {}, and there are {} experts; expected at most those", top_k, experts));
    const std::uint32_t block = payload == ExpertPayload::kFloat8  ? kFloatScale
                                : payload == ExpertPayload::kNvfp4 ? kByteScale
                                                                   : 1;
    if (hidden % block != 0)
        checker.error(
            "/hidden",
            fmt::format(
                "is {}, and {} has a scale for each {} elements; expected a multiple of that",
                hidden,
                enum_name(payload),
                block));
}

void Experiment::check(ParamChecker& checker) const {
    check_components(*system, faults, checker);
}

std::vector<ScenarioParams> default_scenarios(const Experiment& experiment) {
    const CollectivePolicy by_ring = ring_policy();
    CollectivePolicy by_switch{Algorithm::kInSwitch, Protocol::kAuto, 0, false};
    const ScenarioParams serial{"serial", false, by_ring};
    const ScenarioParams ring{"ring", true, by_ring};
    if (std::holds_alternative<CollectiveWorkloadParams>(experiment.workload)) {
        const auto& workload = std::get<CollectiveWorkloadParams>(experiment.workload);
        if (workload.collective != CollectiveKind::kAllReduce)
            return {ring};
        return {ring, {"in_switch", true, by_switch}};
    }
    if (std::holds_alternative<ExpertsWorkloadParams>(experiment.workload))
        return {{"deepep_normal", true, {}}};
    // A training framework that wants the switch's gain registers its gradient buckets; nccl-tests
    // by default does not.
    by_switch.registered = true;
    return {serial, ring, {"in_switch", true, by_switch}};
}

LoadedExperiment complete_experiment(Experiment experiment, const std::filesystem::path& file) {
    LoadedExperiment loaded;
    loaded.file = file;
    std::vector<Problem> problems;
    loaded.default_scenarios = experiment.scenarios.empty();
    if (loaded.default_scenarios)
        experiment.scenarios = default_scenarios(experiment);
    std::set<std::string> names;
    for (std::size_t i = 0; i < experiment.scenarios.size(); ++i)
        if (!names.insert(experiment.scenarios[i].name).second)
            problems.push_back(
                {file.string(),
                 fmt::format("/scenarios/{}/name", i),
                 fmt::format(
                     "\"{}\" stands twice; expected each name once",
                     experiment.scenarios[i].name)});
    if (auto* trace = std::get_if<TraceWorkloadParams>(&experiment.workload)) {
        for (std::size_t i = 0; i < trace->files.size(); ++i) {
            const std::filesystem::path written = trace->files[i];
            const auto path =
                written.is_absolute() ? written : (file.parent_path() / written).lexically_normal();
            std::error_code ignored;
            if (!std::filesystem::is_regular_file(path, ignored))
                problems.push_back(
                    {file.string(),
                     fmt::format("/workload/files/{}", i),
                     fmt::format("names {}, which is not there; expected a trace", path.string())});
        }
        if (trace->files.empty())
            problems.push_back(
                {file.string(), "/workload/files", "is empty; expected at least one trace"});
    }
    if (!problems.empty())
        throw ConfigError(std::move(problems));
    loaded.experiment = std::move(experiment);
    write_out(loaded);
    return loaded;
}

void leave_out(LoadedExperiment& loaded, const std::set<std::string>& scenarios) {
    std::erase_if(loaded.experiment.scenarios, [&](const ScenarioParams& scenario) {
        return scenarios.contains(scenario.name);
    });
    write_out(loaded);
}

LoadedExperiment
load_experiment(const std::filesystem::path& file, std::span<const Override> overrides) {
    return complete_experiment(read_params_file<Experiment>(file, overrides), file);
}

LoadedExperiment load_experiment(
    const Json& json, const std::filesystem::path& file, std::span<const Override> overrides) {
    return complete_experiment(read_params<Experiment>(json, file, overrides), file);
}

SystemParams load_system(const std::filesystem::path& file, std::span<const Override> overrides) {
    return read_params_file<SystemParams>(file, overrides);
}

OrderedJson system_json(const SystemParams& system) {
    return write_value(system);
}

}  // namespace switchfold
