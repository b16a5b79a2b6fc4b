// SPDX-License-Identifier: Apache-2.0
#include "sim/config/scenario_set.h"

#include "core/params_reader.h"
#include "sim/config/parameter_units.h"
#include "sim/config/pointers.h"
#include "sim/kinds/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace switchfold {

namespace {

constexpr const char* kCommandLine = "--set";

/// Canonical text: equal sets have equal texts.
std::string text_of(const ScenarioSet& set) {
    return write_value(set).dump();
}

/// Reads the experiment with one set applied, and identifies the problems caused by the set.
class SetReader {
public:
    SetReader(const WrittenExperiment& written, const ScenarioSet& set, std::size_t scenario) :
        written_(written), set_(set), scenario_(scenario) {}

    std::shared_ptr<const Experiment> read(
        const std::set<std::string>& known_before, std::vector<Problem>& problems,
        std::vector<std::string>& notes) const {
        std::vector<Override> own;
        for (const auto& [pointer, value] : set_)
            if (why_not_set(pointer).empty())
                own.push_back({pointer, value.json});
        order_overrides(own);
        std::vector<Override> all(written_.overrides.begin(), written_.overrides.end());
        all.insert(all.end(), own.begin(), own.end());
        try {
            return std::make_shared<const Experiment>(
                read_experiment({written_.json, written_.file, all}, &notes));
        } catch (const ConfigError& error) {
            for (const Problem& problem : error.problems())
                if (!known_before.contains(problem.text()))
                    problems.push_back(blamed(problem));
        }
        return nullptr;
    }

private:
    /// Values set by the command line or a sweep are blamed on these.
    [[nodiscard]] std::string file_of(const std::string& pointer) const {
        const bool overridden = std::any_of(
            written_.overrides.begin(), written_.overrides.end(),
            [&](const Override& change) { return related(change.pointer, pointer); });
        return overridden ? kCommandLine : written_.file.string();
    }

    [[nodiscard]] Problem blamed(const Problem& problem) const {
        Problem told = blamed_on_set(problem, written_.file.string(), set_, scenario_);
        told.file = file_of(told.pointer);
        return told;
    }

    const WrittenExperiment& written_;
    const ScenarioSet& set_;
    std::size_t scenario_;
};

}  // namespace

std::string why_not_set(std::string_view pointer) {
    if (!pointer.starts_with('/') || pointer.size() == 1)
        return fmt::format(
            "\"{}\" is not a JSON pointer to a parameter; expected one such as /workload/bucket",
            pointer);
    if (related(pointer, "/scenarios"))
        return "a scenario cannot set scenarios: its own settings stand beside set; expected a "
               "pointer into the rest of the experiment";
    if (related(pointer, "/name"))
        return "the experiment has one name for all scenarios; expected the scenario's own name, "
               "beside set";
    // Parts of the system are easily mistaken for parts of the experiment.
    for (const std::string_view part : {"/gpu", "/topology", "/collectives"})
        if (related(pointer, part))
            return fmt::format(
                "is not a parameter, did you mean \"/system{}\"?; expected a pointer from the "
                "experiment's root",
                pointer);
    if (pointer.starts_with("/$"))
        return "is not a parameter; expected the pointer of one, such as /workload/bucket";
    return {};
}

Problem blamed_on_set(
    const Problem& problem, const std::string& file, const ScenarioSet& set, std::size_t index) {
    const bool here = problem.file == file || problem.file == kCommandLine;
    for (const auto& [pointer, value] : set)
        if (here && related(problem.pointer, pointer))
            return {
                file, fmt::format("/scenarios/{}/set/{}", index, escape_token(pointer)),
                problem.pointer == pointer
                    ? problem.message
                    : fmt::format("{}: {}", problem.pointer, problem.message)};
    return {
        file, fmt::format("/scenarios/{}/set", index),
        fmt::format(
            "makes {}{} invalid: {}", here ? "" : problem.file + ": ",
            problem.pointer.empty() ? "/" : problem.pointer, problem.message)};
}

Experiment read_experiment(const WrittenExperiment& written, std::vector<std::string>* notes) {
    Experiment experiment =
        read_params<Experiment>(written.json, written.file, written.overrides, notes);
    kind_of(experiment).complete(experiment);
    return experiment;
}

std::vector<ScenarioSet> written_sets(const WrittenExperiment& written) {
    ReadState state;
    for (const Override& change : written.overrides)
        state.overrides.push_back({change, false, {}});
    const Json json = apply_overrides(written.json, "", state);
    std::vector<ScenarioSet> sets;
    const Json* scenarios = find_value(json, "/scenarios");
    if (scenarios == nullptr || !scenarios->is_array())
        return sets;
    for (const Json& scenario : *scenarios) {
        ScenarioSet& set = sets.emplace_back();
        if (const Json* variables = find_value(scenario, "/nccl_environment"))
            for (const auto& [pointer, value] : NcclEnvironment::values_of(*variables))
                set[pointer] = {Json::parse(value)};
        const Json* written_set = find_value(scenario, "/set");
        if (written_set == nullptr || !written_set->is_object())
            continue;
        for (const auto& [pointer, value] : written_set->items())
            set[pointer] = {value};
    }
    return sets;
}

std::vector<std::shared_ptr<const Experiment>> apply_sets(
    const WrittenExperiment& written, const std::vector<ScenarioSet>& sets,
    std::vector<Problem>& problems, std::vector<std::string>& notes) {
    std::vector<std::shared_ptr<const Experiment>> made(sets.size());
    if (std::all_of(sets.begin(), sets.end(), [](const ScenarioSet& s) { return s.empty(); }))
        return made;
    std::set<std::string> before;  // problems of the experiment itself
    for (const Problem& problem : problems)
        before.insert(problem.text());
    std::vector<std::string> of_sets;
    std::map<std::string, std::shared_ptr<const Experiment>> known;
    for (std::size_t i = 0; i < sets.size(); ++i) {
        if (sets[i].empty())
            continue;
        auto& same = known[text_of(sets[i])];
        if (!same)
            same = SetReader(written, sets[i], i).read(before, problems, of_sets);
        made[i] = same;
    }
    // Each set is read with the whole experiment, whose notes are known.
    for (std::string& note : of_sets)
        if (std::find(notes.begin(), notes.end(), note) == notes.end())
            notes.push_back(std::move(note));
    return made;
}

}  // namespace switchfold
