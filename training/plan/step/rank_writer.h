// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/layer_memory.h"
#include "training/plan/step/pass_writer.h"
#include "training/plan/step/plan_step.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace switchfold {

/// Receives the passes whose times a separate run determines, in steps where ranks represent
/// others.
class FoldedParts {
public:
    virtual ~FoldedParts() = default;
    virtual void pass(std::uint32_t rank, std::uint32_t operation, const Pass& pass) = 0;
};

/// Whether no pass of a step stands alone, such that one kernel of its time could represent it:
/// replicas share weights or gradients in each, or exchange tokens, hosts run ahead into the next,
/// or messages for the next wait on the GPU.
[[nodiscard]] bool passes_meet(const TrainingStep& step);

/// Everything that a step's ranks have in common.
struct StepParts {
    StepParts(const TrainingStep& planned, const RankMap& ranks, FoldedParts* folded = nullptr) :
        step(planned),
        plan(step.plan()),
        schedule(step.schedule()),
        work(step.work()),
        times(step.times()),
        map(ranks),
        fold(folded) {}
    const TrainingStep& step;
    const ParallelPlan& plan;
    const PipelineSchedule& schedule;
    const StageWork& work;  ///< of all micro-batches except the last, which may be smaller
    const KernelTimes& times;
    const RankMap& map;
    FoldedParts* fold;  ///< null: every rank is written in full
};

/// Sets the memory that each rank's weights, gradients and moments take throughout.
void hold_all_along(const std::vector<const TrainingStep*>& by_rank, std::vector<RankGraph>& ranks);

/// Assembles the graph of a step from its ranks.
[[nodiscard]] ExecutionGraph graph_of(
    const TrainingStep& step, std::vector<RankGraph> ranks, Communicators groups, NameTable names);
/// The same of ranks that differ (plan_step()).
[[nodiscard]] ExecutionGraph graph_of(
    const std::vector<const TrainingStep*>& by_rank, std::vector<RankGraph> ranks,
    Communicators groups, NameTable names);

/// Writes the schedule of a rank's device: passes, messages to neighbours, gradients and updates.
class RankWriter {
public:
    /// `memory`: null if all data stay on the GPU.
    RankWriter(
        const StepParts& parts, std::uint32_t rank, Communicators& groups, NameTable& names,
        LayerMemory* memory = nullptr);
    [[nodiscard]] RankGraph write();

private:
    using Index = PassWriter::Index;
    /// Weights of a stage that the same group of ranks shares: all of them, or those of experts if
    /// ranks hold different experts.
    struct Weights {
        std::uint32_t stage = 0;
        bool experts = false;
        auto operator<=>(const Weights&) const = default;
    };

    void mark_last_gradients();
    void mark_alone();
    void slot(std::size_t at);
    void pass(std::size_t lane, const Pass& pass, bool last_gradients, bool as_kernel);
    void one_kernel(std::size_t lane, const Pass& pass, Phase phase);
    [[nodiscard]] Index
    work(std::size_t lane, const Pass& pass, Phase phase, bool reduces, Index first);
    void receive(std::size_t lane, const Pass& pass);
    void host_waits();
    void send(std::size_t lane, const Pass& pass);
    void predict(std::size_t lane, const Pass& pass, Phase phase);
    void before_updates(std::size_t at);
    void update(const Pass& pass);
    void update_layers(const Pass& pass);
    /// Parameters of which the rank updates its part.
    [[nodiscard]] double updated(double parameters, Weights weights);
    void update_kernels_of(double parameters);
    void round_weights(double parameters);
    void gather(std::size_t lane, const GatherItem& item, const Pass& pass, Phase phase);
    void gradients_ready(std::size_t lane, std::uint32_t layer, bool reduces);
    void close_unit(std::uint32_t stage, Phase phase);
    /// Sends what is in a bucket.
    void flush(Weights weights, std::size_t lane, Phase phase);
    void reduce(Weights weights, std::vector<Index> dependencies, Phase phase);
    /// A collective over all gradients, which the update waits for.
    void reduce_before_update(
        const char* name, CollectiveKind kind, Bytes bytes, Datatype datatype, const Team& team);
    void reduce_tied(const std::vector<std::uint32_t>& stages);
    /// All ranks that hold these stages of the same weights.
    [[nodiscard]] std::vector<std::uint32_t>
    holders(const std::vector<std::uint32_t>& stages, bool replicas) const;
    const Team& team(Weights weights);
    [[nodiscard]] double parameters(Weights weights) const;
    [[nodiscard]] std::uint32_t round_of(const Pass& pass) const;
    [[nodiscard]] std::uint32_t peer(std::uint32_t device) const;

    struct Pending {
        /// A gradient of which the rank will keep only its shard.
        struct Whole {
            Index operation = 0;  ///< computes it
            Bytes bytes;
        };
        Bytes bytes;                     ///< gradients waiting for their bucket to fill
        std::vector<Whole> whole;        ///< the same gradients
        std::set<std::uint32_t> layers;  ///< their layers
        bool any = false;                ///< whether a bucket has been sent
        std::vector<Index> reduced;      ///< collectives that the update waits for
    };

    const StepParts& parts_;
    std::uint32_t rank_;
    std::uint32_t device_;
    LayerMemory* memory_;
    PassWriter writer_;
    std::vector<bool> last_gradients_;  ///< by slot: whether it is the last before an update
    std::vector<bool> alone_;           ///< by slot: one kernel represents it, in a folded step
    bool follows_forward_ = false;      ///< the pass: that of the same micro-batch and stage
    std::map<Weights, Pending> pending_;
    /// Ends of a unit whose gradients leave behind the gather of the next one's weights, which
    /// ranks call before.
    std::optional<std::vector<Index>> closed_unit_;
    std::map<Weights, Team> teams_;  ///< ranks that share the weights
    std::vector<Index> before_;      ///< operations that a receive waits for
    std::vector<Index> sends_;       ///< of the previous slot
    std::vector<Index> host_waits_;  ///< blocking messages in flight
};

}  // namespace switchfold
