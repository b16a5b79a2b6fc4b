// SPDX-License-Identifier: Apache-2.0
#include "sim/config/load.h"

#include "core/fnv.h"
#include "core/named_path.h"
#include "sim/config/changed_system.h"
#include "sim/config/parameter_units.h"
#include "sim/config/rank_gpus.h"
#include "sim/config/scenario_set.h"
#include "sim/kinds/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace switchfold {

namespace {

/// An experiment as it can be read again.
OrderedJson written(const Experiment& experiment) {
    OrderedJson json = write_value(experiment);
    for (const WorkloadAt& at : workloads_of(experiment))
        kind_of(at.workload).forget_added(at.workload, json[OrderedJson::json_pointer(at.pointer)]);
    return json;
}

/// Writes the effective configuration. Paths are kept as written, because the dump must not depend
/// on the repository's location. A scenario's `set` is written as read; objects from files are
/// written out in full.
void write_out(LoadedExperiment& loaded) {
    OrderedJson json = written(loaded.experiment);
    // What nobody set leaves no trace, so that a result has the digest that it had before there was
    // an environment.
    if (json.contains("scenarios"))
        for (OrderedJson& scenario : json["scenarios"])
            if (scenario.value("nccl_environment", OrderedJson::object()).empty())
                scenario.erase("nccl_environment");
    // The file would no longer tell a changed GPU from the one that a trace was recorded on.
    if (loaded.described)
        for (const WorkloadAt& at : workloads_of(loaded.experiment))
            kind_of(at.workload)
                .name_machine(json[OrderedJson::json_pointer(at.pointer)], *loaded.described);
    for (std::size_t i = 0; i < loaded.changed.size(); ++i) {
        if (!loaded.changed[i])
            continue;
        const OrderedJson made = written(*loaded.changed[i]);
        for (auto& [pointer, value] : json["scenarios"][i]["set"].items())
            if (const OrderedJson::json_pointer at(pointer); made.contains(at))
                value = made.at(at);
    }
    loaded.effective_config = json.dump(2) + "\n";
    loaded.digest = fmt::format("{:016x}", Fnv().add(loaded.effective_config).value());
}

/// Completes an experiment and checks it across its parts.
class Completer {
public:
    Completer(Experiment experiment, const std::filesystem::path& file) {
        loaded_.file = file;
        loaded_.default_scenarios = experiment.scenarios.empty();
        if (loaded_.default_scenarios)
            experiment.scenarios = kind_of(experiment).default_scenarios(experiment);
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
            const WorkloadKind& kind = kind_of(at.workload);
            for (const NamedFile& file : kind.files(at.workload))
                check_file(at.pointer + file.pointer, file.path, file.what, tell);
            for (const auto& [pointer, message] : kind.file_problems(at.workload))
                tell(problem(at.pointer + pointer, message));
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
            if (&kind_of(now[i].workload) != &kind_of(before[i].workload))
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
