// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/copies/ring_waits.h"
#include "training/memory/step/step_memory.h"
#include "training/plan/step/pass_writer.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace switchfold {

/// What a memory plan moves before and after each access step.
struct PlannedMoves {
    explicit PlannedMoves(const StepMemory& planned) :
        memory(planned),
        moves(step_moves(planned.schedule, planned.plan.retained)),
        waits(room_waits(
            planned.schedule, planned.plan.retained, moves, planned.ring_bytes(),
            planned.choice.staging != Staging::kSingle)) {}
    const StepMemory& memory;
    std::vector<StepMoves> moves;
    std::vector<std::optional<std::uint32_t>>
        waits;  ///< steps that must free room in the staging ring
};

/// Writes a rank's copies around its access steps, one after the other, and the memory that what
/// they open takes.
class StepCopies {
public:
    using Index = PassWriter::Index;
    using Indices = std::vector<Index>;

    StepCopies(const PlannedMoves& planned, PassWriter& writer) :
        planned_(planned), writer_(writer) {}

    [[nodiscard]] std::size_t at() const { return laid_.size(); }
    /// The next step begins. \returns operations that it waits for: those that fetch its data or
    /// free room.
    [[nodiscard]] Indices prefetch(Phase phase);
    /// It is written from operation `first` on, and ends with these.
    void laid(Index first, const Indices& ended);
    /// Copies its results out, and ends it. `freeing`: operations that free its room beside the
    /// last copy out.
    void offload(const Indices& ended, Indices freeing, Phase phase);
    /// Writes the memory changes of all stays, and what is held throughout: weights, retained
    /// persistent items, shadows, and `more`. \pre all steps are written
    void memory(const MemoryBytes& more = {});

private:
    /// Operations of an access step.
    struct Laid {
        Index first = 0;
        bool first_at_end = false;  ///< it has none, and begins where that one ends
        Index last = 0;
    };
    [[nodiscard]] MemoryBytes held() const;

    const PlannedMoves& planned_;
    PassWriter& writer_;
    std::vector<Laid> laid_;
    std::vector<Indices>
        given_back_;  ///< by access step: operations that free its room and that of earlier steps
    std::optional<Index> last_keep_;
    using Moved = std::map<std::pair<std::size_t, std::uint32_t>, Index>;
    Moved fetched_;  ///< by access step and item
    Moved kept_;
};

}  // namespace switchfold
