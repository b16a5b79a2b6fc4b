// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/step/gathers.h"
#include "training/memory/step/gradient_buffer.h"
#include "training/memory/step/step_copies.h"
#include "training/memory/step/step_memory.h"
#include "training/plan/step/pass_writer.h"
#include "training/plan/step/stage_work.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace switchfold {

/// What all ranks of a step with planned memory share.
struct MemoryStepParts {
    MemoryStepParts(const TrainingStep& planned_step, const StepMemory& planned_memory);
    const TrainingStep& step;
    const StepMemory& memory;
    ParallelPlan once;  ///< without_recompute()
    RankMap map;
    StageWork layers;  ///< one layer per stage
    PlannedMoves moves;
    Gathers gathers;  ///< of sharded weights
};

/// Writes one rank's operations, access step by access step.
class MemoryWriter {
public:
    MemoryWriter(
        const MemoryStepParts& parts, std::uint32_t rank, Communicators& groups, NameTable& names);
    [[nodiscard]] RankGraph write();

private:
    using Index = PassWriter::Index;
    using Indices = std::vector<Index>;

    /// A forward, or one that is repeated for the backward.
    void forward(const LayerUse& step, const Indices& data);
    void backward(const LayerUse& step, const Indices& data);
    void update(const LayerUse& step, const Indices& data);
    void work(PassKind kind, std::uint32_t layer, Phase phase);
    void weight_gradient(std::uint32_t layer);
    void take_gradients(std::uint32_t layer);
    void complete_gradients(std::uint32_t layer);
    void look_at_all_gradients();
    void take(std::size_t group);
    void give_back(std::size_t group, Index operation);
    [[nodiscard]] std::optional<Index> reduce(std::size_t group, Indices ready);
    void to_host(std::size_t group, Indices ready);
    void update_on_host(std::size_t group, Index there);
    /// Every rank has updated its part of the group's weights.
    void gather_weights(std::size_t group, Index ready);
    [[nodiscard]] std::uint64_t weights_of(std::size_t group) const;  ///< bytes
    [[nodiscard]] bool sharded() const { return parts_.memory.facts.options.moment_shards > 1; }
    [[nodiscard]] Bytes part(std::size_t group, std::uint64_t bytes) const;  ///< a rank's part
    /// Ranks that reduce a group's gradients.
    [[nodiscard]] const Team& team(std::size_t group) const {
        return teams_[parts_.memory.groups[group].of_experts ? 1 : 0];
    }
    void spans();

    const MemoryStepParts& parts_;
    const MemoryChoice& choice_;
    PassWriter writer_;
    StepCopies copies_;
    std::array<Team, 2> teams_;  ///< ranks that reduce gradients; of experts, those that hold them
    GradientBuffer gradients_;
    std::vector<std::size_t> left_;    ///< by group: remaining updates
    std::vector<Indices> ready_;       ///< by group: operations that complete its gradients
    std::vector<std::size_t> unsent_;  ///< groups whose gradients are reduced after the pass
    Indices all_ready_;                ///< over all groups
    Indices ended_;                    ///< end of the last access step
    std::optional<Index> last_update_;
    std::vector<std::size_t> on_host_;  ///< groups whose updates wait for the others
    struct Range {
        Index first = 0;
        Index last = 0;
    };
    std::map<std::pair<std::uint32_t, UseKind>, Range> passes_;  ///< by micro-batch
    std::uint32_t micro_batch_ = 0;
};

}  // namespace switchfold
