// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/copies/ring_room.h"
#include "workloads/memory/step/gradient_room.h"
#include "workloads/memory/step/planned_memory.h"
#include "workloads/plan/step/pass_writer.h"
#include "workloads/plan/step/stage_work.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace switchfold {

/// Everything that the ranks of a step with planned memory have in common.
struct MemoryStepParts {
    MemoryStepParts(const PlannedStep& planned_step, const PlannedMemory& planned_memory);
    const PlannedStep& step;
    const PlannedMemory& memory;
    RankMap map;
    StageWork layers;  ///< a layer a stage
    std::vector<StepMoves> moves;
    std::vector<std::optional<std::uint32_t>> waits;  ///< for room of the staging ring
};

/// Lays one rank's operations down, access step by access step.
class MemoryWriter {
public:
    MemoryWriter(
        const MemoryStepParts& parts, std::uint32_t rank, Communicators& groups, NameTable& names);
    [[nodiscard]] RankGraph write();

private:
    using Index = PassWriter::Index;
    using Indices = std::vector<Index>;

    void forward(const AccessStep& step, const Indices& data);
    void backward(const AccessStep& step, const Indices& data);
    void update(const AccessStep& step, const Indices& data);
    /// What the step waits for: what was fetched for it, or room.
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
    [[nodiscard]] Bytes part(std::uint64_t bytes) const;  ///< a rank's
    void spans();
    /// Of all stays: whose memory they take, from when until when.
    void memory();
    [[nodiscard]] MemoryBytes held() const;

    const MemoryStepParts& parts_;
    const MemoryChoice& choice_;
    PassWriter writer_;
    Team team_;  ///< who reduces gradients
    GradientRoom gradients_;
    std::vector<std::size_t> left_;  ///< by group: updates that have not been laid down
    std::vector<Indices> ready_;       ///< by group: when its gradients are there
    std::vector<std::size_t> unsent_;  ///< groups whose gradients travel after the pass
    Indices all_ready_;                ///< of all groups
    Indices ended_;                    ///< of the last access step
    std::vector<Indices> given_back_;  ///< by access step: its room, and that of those before
    std::optional<Index> last_update_;
    std::optional<Index> last_keep_;
    std::vector<std::size_t> on_host_;  ///< groups whose updates wait for the others
    struct Range {
        Index first = 0;
        Index last = 0;
    };
    std::map<StepKind, Range> passes_;
    std::vector<Range> laid_;  ///< by access step: its first operation that computes, and its end
    using Moved = std::map<std::pair<std::size_t, std::uint32_t>, Index>;
    Moved fetched_;  ///< by access step and item
    Moved kept_;
};

}  // namespace switchfold
