// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/sweep/slurm.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace switchfold {

/// Cluster options of `sweep` and `plan`.
struct SlurmArguments {
    std::string executor = "local";
    unsigned tasks = SlurmOptions{}.tasks;
    std::vector<std::string> sbatch;
    std::string prologue;
    std::string points;

    void add_to(CLI::App& command);
    [[nodiscard]] bool slurm() const { return executor == "slurm"; }
    /// Processes at a time: as many as asked for; 0: one with Slurm, else one a core.
    [[nodiscard]] unsigned jobs(unsigned asked) const;
    /// Throws ConfigError, IoError.
    [[nodiscard]] SlurmOptions options() const;
    /// The digests of a task's share, one per line; none: all. Throws ConfigError.
    [[nodiscard]] std::optional<std::set<std::string>> only() const;
};

}  // namespace switchfold
