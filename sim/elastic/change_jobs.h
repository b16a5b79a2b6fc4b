// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/policies.h"
#include "sim/config/experiment.h"
#include "sim/elastic/step_graphs.h"
#include "sim/machine/simulate.h"
#include "sim/pool/pool.h"
#include "training/elastic/timeline.h"

#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace switchfold {

/// Simulations that a run needs: each step and each transfer once, however often it repeats.
class ChangeJobs {
public:
    /// `system`: including the experiment's faults. All arguments must outlive this object.
    ChangeJobs(
        std::string name, const SystemParams& system, const StepGraphs& graphs,
        const CollectivePolicies& policies, const SimulateOptions& options, bool overlap,
        const RunParams& run);

    /// Requests the step of these members; adds what is wrong with it to `problems`.
    void want_step(const elastic::Members& members, PlanProblems& problems);
    void want_joining(
        const elastic::Members& old_members, const elastic::Members& joiners,
        PlanProblems& problems);
    /// Requests their step with the copies of a checkpoint beside it.
    void want_checkpoint(const elastic::Members& members, PlanProblems& problems);
    /// Requests a transfer from the first of the sources, or from all, to the other members; what
    /// members divide comes from `holders`.
    void want_transfer(
        const elastic::Members& sources, const elastic::Members& to,
        const elastic::Members& holders);
    /// Requests a broadcast of the weights from the first member to the others. \pre two members
    void want_weights(const elastic::Members& members);
    /// Requests the moves of what members divide, alone.
    void want_divided(const elastic::Members& before, const elastic::Members& after);

    /// Appends the jobs; pass their results to keep() in the same order.
    void add_to(std::vector<Job>& jobs) const;
    void keep(std::size_t job, const std::string& bytes);
    [[nodiscard]] std::size_t size() const { return wanted_.size(); }

    [[nodiscard]] Time step(const elastic::Members& members) const;
    [[nodiscard]] elastic::JoiningStep
    joining(const elastic::Members& old_members, const elastic::Members& joiners) const;
    [[nodiscard]] elastic::CheckpointStep checkpoint(const elastic::Members& members) const;
    [[nodiscard]] Time transfer(
        const elastic::Members& sources, const elastic::Members& to,
        const elastic::Members& holders) const;
    [[nodiscard]] Time weights(const elastic::Members& members) const;
    [[nodiscard]] Time divided(const elastic::Members& before, const elastic::Members& after) const;

private:
    enum class Kind : std::uint8_t { kStep, kJoining, kTransfer, kCheckpoint, kWeights, kDivided };
    using Key = std::tuple<Kind, elastic::Members, elastic::Members, elastic::Members>;
    /// Results of a simulation.
    struct Times {
        Time end;       ///< end of the first members' last operation
        Time ready;     ///< when a source's update could begin without the transfer
        Time transfer;  ///< arrival of its last byte
        std::vector<Time>
            sent;  ///< for each of the first members' GPUs, when it has sent or copied its part
    };
    struct Wanted {
        Key key;
        ExecutionGraph graph;
        Times times;
    };
    [[nodiscard]] bool has(const Key& key) const { return places_.contains(key); }
    void want(Key key, ExecutionGraph graph);
    /// The step from StepGraphs, or a version without overlap.
    [[nodiscard]] ExecutionGraph
    step_graph(const elastic::Members& members, PlanProblems& problems) const;
    [[nodiscard]] const Times& times(const Key& key) const;
    [[nodiscard]] Times measured(const Wanted& wanted, const Outcome& outcome) const;
    /// Bytes of a checkpoint that each of the members' GPUs writes.
    [[nodiscard]] std::vector<Bytes> parts_of(const elastic::Members& members) const;

    std::string name_;
    const SystemParams& system_;
    const StepGraphs& graphs_;
    CollectivePolicies policies_;
    CollectivePolicies library_;  ///< of a broadcast that the framework calls, not the run
    SimulateOptions options_;
    bool overlap_;
    const RunParams& run_;
    std::deque<Wanted> wanted_;
    std::map<Key, std::size_t> places_;
};

}  // namespace switchfold
