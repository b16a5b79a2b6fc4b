// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "sim/config/experiment.h"

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// Values that a scenario sets, by JSON pointer into the experiment.
using ScenarioSet = std::map<std::string, AnyValue>;

/// Why a scenario cannot set the value at this pointer, and what was expected; empty if it can.
[[nodiscard]] std::string why_not_set(std::string_view pointer);

/// Converts a problem of the experiment that scenario `index` runs to a problem of its set: of the
/// entry that leads to the wrong value or lies in it, otherwise of the whole set. `file`: the
/// experiment's.
[[nodiscard]] Problem blamed_on_set(
    const Problem& problem, const std::string& file, const ScenarioSet& set, std::size_t index);

/// An experiment as written in a file, with overrides from the command line or a sweep.
struct WrittenExperiment {
    const Json& json;
    const std::filesystem::path& file;
    std::span<const Override> overrides;
};

/// Reads it without the scenarios' sets. Throws ConfigError with all problems; adds what the reader
/// of results should know to `notes`.
[[nodiscard]] Experiment
read_experiment(const WrittenExperiment& written, std::vector<std::string>* notes = nullptr);

/// The sets as written, by scenario; for experiments with errors elsewhere.
[[nodiscard]] std::vector<ScenarioSet> written_sets(const WrittenExperiment& written);

/// The experiments with each set applied, by scenario; null for scenarios that set nothing. Equal
/// sets share one. Problems are added to `problems`, which holds those without any set, and blamed
/// on their entries; `notes` gets what the sets add to the experiment's own.
[[nodiscard]] std::vector<std::shared_ptr<const Experiment>> apply_sets(
    const WrittenExperiment& written, const std::vector<ScenarioSet>& sets,
    std::vector<Problem>& problems, std::vector<std::string>& notes);

}  // namespace switchfold
