// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "core/params.h"
#include "sim/config/experiment.h"
#include "training/plan/step/plan_step.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

class ExperimentRun;
class GraphKind;
struct ExperimentResult;
struct LoadedExperiment;
struct PlanParams;
struct RunOptions;
struct ScenarioResult;

/// What a report tells of a run first.
enum class Told { kSteps, kCollective, kExchanges, kLoops, kRegions, kSharing };

template <>
struct EnumNames<Told> {
    static constexpr std::array<std::pair<Told, std::string_view>, 6> kNames{
        {{Told::kSteps, "steps"},
         {Told::kCollective, "collective"},
         {Told::kExchanges, "exchanges"},
         {Told::kLoops, "loops"},
         {Told::kRegions, "regions"},
         {Told::kSharing, "sharing"}}};
};

/// What a kind of workload is, in one row.
struct KindFacts {
    std::string_view name;       ///< its "type" in experiments and results
    bool on_gpus = true;         ///< else on many-core processors and their hosts
    bool shares_machine = true;  ///< may be one of several workloads of a machine
    bool computes = true;        ///< beside its collectives
    bool has_ranks = true;       ///< that reports count
    bool has_rank_timelines = true;
    std::string_view measured_as = {};  ///< in tables of measured steps; empty: in none
    Told told = Told::kSteps;
};

/// A file that a workload names, with the pointer: "/table".
struct NamedFile {
    std::string pointer;
    std::string path;  ///< relative to the experiment's file
    std::string_view what;
};

/// A kind of workload: everything that the rest of the program asks of it. Pointers of problems and
/// files are relative to the workload.
class WorkloadKind {
public:
    explicit constexpr WorkloadKind(const KindFacts& facts) : facts_(facts) {}
    virtual ~WorkloadKind() = default;
    WorkloadKind(const WorkloadKind&) = delete;
    WorkloadKind& operator=(const WorkloadKind&) = delete;
    WorkloadKind(WorkloadKind&&) = delete;
    WorkloadKind& operator=(WorkloadKind&&) = delete;

    [[nodiscard]] const KindFacts& facts() const { return facts_; }
    [[nodiscard]] std::string_view name() const { return facts_.name; }
    /// Null if it has no graph for the ranks of a machine.
    [[nodiscard]] virtual const GraphKind* as_graph() const { return nullptr; }

    // An experiment is read.

    /// Settles in an experiment that was just read what follows from the workload.
    virtual void complete(Experiment& /*experiment*/) const {}
    /// Takes out of a workload's text what complete() added, so that it can be read again.
    virtual void forget_added(const Workload& /*workload*/, OrderedJson& /*text*/) const {}
    /// Checks an experiment against its machine.
    virtual void check(const Experiment& experiment, ParamChecker& checker) const = 0;
    /// Scenarios of an experiment that defines none.
    [[nodiscard]] virtual std::vector<ScenarioParams>
    default_scenarios(const Experiment& experiment) const = 0;
    [[nodiscard]] virtual std::vector<NamedFile> files(const Workload& /*workload*/) const {
        return {};
    }
    /// What is wrong with the files.
    [[nodiscard]] virtual PlanProblems file_problems(const Workload& /*workload*/) const {
        return {};
    }
    /// Writes the machine that `described` is into the effective configuration of a workload that
    /// would take it from the system.
    virtual void name_machine(OrderedJson& /*written*/, const SystemParams& /*described*/) const {}
    /// The plan of a training step; null for anything else.
    [[nodiscard]] virtual const PlanParams* plan(const Workload& /*workload*/) const {
        return nullptr;
    }
    /// Whether the graph depends on how its collectives run, because parts of it are measured
    /// beside them.
    [[nodiscard]] virtual bool follows_communication(const Experiment& /*experiment*/) const {
        return false;
    }

    // It runs, and has a result.

    /// `options` must outlive the run.
    [[nodiscard]] virtual std::unique_ptr<ExperimentRun>
    start(const LoadedExperiment& loaded, const RunOptions& options) const = 0;
    /// What `run` prints between the heading and the notes.
    [[nodiscard]] virtual std::string tables(const ExperimentResult& result) const;
    /// Whether a scenario's figures are those of its first collective.
    [[nodiscard]] virtual bool is_one_collective(const ScenarioResult& /*scenario*/) const {
        return false;
    }

private:
    KindFacts facts_;
};

}  // namespace switchfold
