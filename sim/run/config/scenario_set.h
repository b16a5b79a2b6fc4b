// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/json.h"
#include "sim/run/config/experiment.h"

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// What a scenario sets: values by JSON pointers into the experiment.
using ScenarioSet = std::map<std::string, AnyValue>;

/// Why a scenario cannot set what this pointer names, and what was expected; empty if it can.
[[nodiscard]] std::string why_not_set(std::string_view pointer);

/// A problem of what scenario `index` runs, told as one of its set: of the entry that leads to the
/// wrong value or lies in it, else of the whole. `file`: the experiment's.
[[nodiscard]] Problem blamed_on_set(
    const Problem& problem, const std::string& file, const ScenarioSet& set, std::size_t index);

/// An experiment as it stands in a file, with what the command line or a sweep overrides.
struct WrittenExperiment {
    const Json& json;
    const std::filesystem::path& file;
    std::span<const Override> overrides;
};

/// Without what scenarios set. Throws ConfigError with everything that is wrong.
[[nodiscard]] Experiment read_experiment(const WrittenExperiment& written);

/// The sets as the JSON says them, by scenario: for experiments that are wrong elsewhere.
[[nodiscard]] std::vector<ScenarioSet> written_sets(const WrittenExperiment& written);

/// The experiments that the sets make, by scenario; none for a scenario that sets nothing. Equal
/// sets share one. What is wrong with them is added to `problems`, which has what is wrong without
/// them, each blamed on its entry.
[[nodiscard]] std::vector<std::shared_ptr<const Experiment>> apply_sets(
    const WrittenExperiment& written,
    const std::vector<ScenarioSet>& sets,
    std::vector<Problem>& problems);

}  // namespace switchfold
