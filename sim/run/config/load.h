// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/json.h"
#include "sim/run/config/experiment.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace switchfold {

/// An experiment as it will run: scenarios filled in, paths resolved, the whole configuration as
/// text.
struct LoadedExperiment {
    Experiment experiment;
    std::filesystem::path file;
    std::string effective_config;    ///< JSON, every field
    std::string digest;              ///< of that text
    bool default_scenarios = false;  ///< the experiment names none
    /// By scenario: the experiment as its `set` makes it, none where it sets nothing. Equal sets
    /// share one.
    std::vector<std::shared_ptr<const Experiment>> changed;

    /// What a scenario runs.
    [[nodiscard]] const Experiment& of(std::size_t scenario) const {
        return scenario < changed.size() && changed[scenario] ? *changed[scenario] : experiment;
    }
};

/// What some of an experiment's scenarios run.
struct Variant {
    const Experiment* experiment = nullptr;
    std::vector<std::size_t> scenarios;
};
/// One for scenarios that run the same, in the order of their first scenarios.
[[nodiscard]] std::vector<Variant> variants_of(const LoadedExperiment& loaded);

/// Takes out scenarios, by name.
void leave_out(LoadedExperiment& loaded, const std::set<std::string>& scenarios);

/// Throws ConfigError with everything that is wrong.
[[nodiscard]] LoadedExperiment
load_experiment(const std::filesystem::path& file, std::span<const Override> overrides);
/// The same of an experiment that stands in `file` as JSON.
[[nodiscard]] LoadedExperiment load_experiment(
    const Json& json, const std::filesystem::path& file, std::span<const Override> overrides);
/// For callers that make an experiment themselves, whose scenarios set nothing; `file` is what its
/// paths are relative to.
[[nodiscard]] LoadedExperiment
complete_experiment(Experiment experiment, const std::filesystem::path& file);
[[nodiscard]] SystemParams
load_system(const std::filesystem::path& file, std::span<const Override> overrides);

/// Every field of a system, as JSON.
[[nodiscard]] OrderedJson system_json(const SystemParams& system);

/// JSON Schema of "experiment", "system", "topology", "collectives", "gpu",
/// "processor" or "costs". Throws ConfigError
/// for another kind.
[[nodiscard]] std::string schema_text(const std::string& kind);
/// Parameters of the same kinds as a Markdown table.
[[nodiscard]] std::string parameter_table(const std::string& kind);

}  // namespace switchfold
