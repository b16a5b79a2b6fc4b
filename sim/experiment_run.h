// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "sim/output/writers.h"
#include "sim/runner.h"

#include <cstddef>
#include <string>
#include <vector>

namespace switchfold {

/// An experiment's way from scenarios to figures and files. run_experiment() goes it, keeps the
/// clock and the folder, and says and writes what all experiments have.
class ExperimentRun {
public:
    /// `options` must outlive it.
    ExperimentRun(const LoadedExperiment& loaded, const RunOptions& options) :
        loaded_(loaded), options_(options) {}
    virtual ~ExperimentRun() = default;
    ExperimentRun(const ExperimentRun&) = delete;
    ExperimentRun& operator=(const ExperimentRun&) = delete;
    ExperimentRun(ExperimentRun&&) = delete;
    ExperimentRun& operator=(ExperimentRun&&) = delete;

    /// Prepares the scenarios and runs their simulations. Scenarios that the machine cannot run may
    /// be gone from loaded() afterwards.
    virtual void simulate() = 0;
    /// Adds the workload, the scenarios and the number of events.
    virtual void tell(ExperimentResult& result) const = 0;
    /// Stages the files beside result.json and the effective configuration.
    virtual void write(ResultFolder& folder, const ExperimentResult& result) const = 0;

    [[nodiscard]] const LoadedExperiment& loaded() const { return loaded_; }

protected:
    [[nodiscard]] const RunOptions& options() const { return options_; }
    [[nodiscard]] const Experiment& experiment() const { return loaded_.experiment; }
    [[nodiscard]] const std::vector<ScenarioParams>& scenarios() const {
        return loaded_.experiment.scenarios;
    }
    /// A problem of the experiment that a scenario runs, blamed on its `set`, if it has one.
    [[nodiscard]] Problem
    problem_of(std::size_t scenario, const std::string& pointer, const std::string& message) const;
    /// The text is computed only if logging is enabled.
    template <class Text>
    void log(Text text) const {
        if (options_.log)
            options_.log(text());
    }

    LoadedExperiment loaded_;

private:
    const RunOptions& options_;
};

}  // namespace switchfold
