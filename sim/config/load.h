// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "sim/config/experiment.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace switchfold {

/// A complete experiment: with default scenarios, resolved paths, and the whole configuration as
/// text.
struct LoadedExperiment {
    Experiment experiment;
    std::filesystem::path file;
    std::string effective_config;    ///< JSON, every field
    std::string digest;              ///< hash of that text
    bool default_scenarios = false;  ///< the experiment defines no scenarios
    std::vector<std::string> notes;  ///< of the reading, for the results
    /// By scenario: the experiment with its `set` applied, null if it sets nothing. Equal sets
    /// share one.
    std::vector<std::shared_ptr<const Experiment>> changed;
    /// The system without what the command line or a sweep changes of its GPUs; null if nothing.
    std::shared_ptr<const SystemParams> described;

    /// The experiment that a scenario runs.
    [[nodiscard]] const Experiment& of(std::size_t scenario) const {
        return scenario < changed.size() && changed[scenario] ? *changed[scenario] : experiment;
    }
};

/// An experiment that some of the scenarios run.
struct Variant {
    const Experiment* experiment = nullptr;
    std::vector<std::size_t> scenarios;
};
/// Groups scenarios that run the same experiment, in order of their first scenario.
[[nodiscard]] std::vector<Variant> variants_of(const LoadedExperiment& loaded);

/// Removes scenarios by name.
void leave_out(LoadedExperiment& loaded, const std::set<std::string>& scenarios);

/// Throws ConfigError with all problems.
[[nodiscard]] LoadedExperiment
load_experiment(const std::filesystem::path& file, std::span<const Override> overrides);
/// The same for an experiment given as the JSON content of `file`.
[[nodiscard]] LoadedExperiment load_experiment(
    const Json& json, const std::filesystem::path& file, std::span<const Override> overrides);
/// For experiments constructed by the program, whose scenarios set nothing; their paths are
/// relative to `file`.
[[nodiscard]] LoadedExperiment
complete_experiment(Experiment experiment, const std::filesystem::path& file);
/// A system of GPUs. Throws ConfigError for one of other devices.
[[nodiscard]] SystemParams
load_system(const std::filesystem::path& file, std::span<const Override> overrides);
/// One of GPUs or of other devices.
[[nodiscard]] SystemParams
load_any_system(const std::filesystem::path& file, std::span<const Override> overrides);

/// Every field of a system, as JSON.
[[nodiscard]] OrderedJson system_json(const SystemParams& system);

/// JSON Schema of "experiment", "system", "topology", "collectives", "gpu",
/// "processor" or "costs". Throws ConfigError
/// for another kind.
[[nodiscard]] std::string schema_text(const std::string& kind);
/// Parameters of the same kinds as a Markdown table.
[[nodiscard]] std::string parameter_table(const std::string& kind);

}  // namespace switchfold
