// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/load.h"
#include "sim/output/result.h"
#include "sim/pool/progress.h"
#include "sim/results/interval_source.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

class Probe;  // models/probe.h

struct RunOptions {
    unsigned jobs = 1;
    bool in_process =
        false;  ///< run scenarios in this process, in sequence: for callers that are workers
    bool timeline = false;
    bool rank_timelines = false;               ///< rank-timelines in the folder: a file a rank
    std::optional<std::filesystem::path> out;  ///< folder for result.json and its companions
    IntervalSource intervals;
    std::function<void(const WorkerProgress&)> progress;
    std::function<void(const std::string&)> log;  ///< receives one line per step of the work
    /// Watch the scenarios' own simulations, not those that find causes and baselines beside them.
    /// Only with in_process: other processes have copies of them.
    std::vector<Probe*> probes;
};

/// Runs an experiment's scenarios and, if a folder is given, writes the files. Throws ConfigError,
/// IoError, SimulationError.
[[nodiscard]] ExperimentResult
run_experiment(const LoadedExperiment& loaded, const RunOptions& options);

/// The tables that `run` prints of a result.
[[nodiscard]] std::string to_table(const ExperimentResult& result);

}  // namespace switchfold
