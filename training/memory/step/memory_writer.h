// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/copies/ring_room.h"
#include "training/memory/step/gradient_room.h"
#include "training/memory/step/planned_memory.h"
#include "training/plan/step/pass_writer.h"
#include "training/plan/step/stage_work.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace switchfold {

/// What all ranks of a step with planned memory share.
struct MemoryStepParts {
    MemoryStepParts(const PlannedStep& planned_step, const PlannedMemory& planned_memory);
    const PlannedStep& step;
    const PlannedMemory& memory;
    ParallelPlan once;  ///< without_recompute()
    RankMap map;
    StageWork layers;  ///< one layer per stage
    std::vector<StepMoves> moves;
    std::vector<std::optional<std::uint32_t>>
        waits;  ///< steps that must free room in the staging ring
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
    void forward(const AccessStep& step, const Indices& data);
    void backward(const AccessStep& step, const Indices& data);
    void update(const AccessStep& step, const Indices& data);
    /// Operations that the step waits for: those that fetch its data or free room.
    [[nodiscard]] Indices fetch(std::size_t at, Phase phase);
    void keep(std::size_t at, const Indices& ended, Phase phase);
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
    [[nodiscard]] Bytes part(std::uint64_t bytes) const;  ///< a rank's part
    void spans();
    /// Writes the memory changes of all stays.
    void memory();
    [[nodiscard]] MemoryBytes held() const;

    const MemoryStepParts& parts_;
    const MemoryChoice& choice_;
    PassWriter writer_;
    Team team_;  ///< ranks that reduce gradients
    GradientRoom gradients_;
    std::vector<std::size_t> left_;    ///< by group: remaining updates
    std::vector<Indices> ready_;       ///< by group: operations that complete its gradients
    std::vector<std::size_t> unsent_;  ///< groups whose gradients are reduced after the pass
    Indices all_ready_;                ///< over all groups
    Indices ended_;                    ///< end of the last access step
    std::vector<Indices>
        given_back_;  ///< by access step: operations that free its room and that of earlier steps
    std::optional<Index> last_update_;
    std::optional<Index> last_keep_;
    std::vector<std::size_t> on_host_;  ///< groups whose updates wait for the others
    struct Range {
        Index first = 0;
        Index last = 0;
    };
    std::map<std::pair<std::uint32_t, StepKind>, Range> passes_;  ///< by micro-batch
    std::uint32_t micro_batch_ = 0;
    std::vector<Range> laid_;  ///< by access step: its first computing operation, and its end
    using Moved = std::map<std::pair<std::size_t, std::uint32_t>, Index>;
    Moved fetched_;  ///< by access step and item
    Moved kept_;
};

}  // namespace switchfold
