// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "models/collectives/shortcuts/recorded_collective.h"

#include <deque>
#include <optional>

namespace switchfold {

/// Collectives like each other whose members come apart, nearly as they did before: in a step of
/// equal blocks each collective ends as far apart as it began, and so the next one begins. Such a
/// one passes as the nearest of those did that were simulated. Pure logic, without a clock.
class JoinedApart {
public:
    /// One that was simulated, with its traffic since its first member joined.
    void learn(RecordedCollective run);
    /// How one passes whose members join so; nothing: none was near. Who comes earlier than in that
    /// one ends earlier by the share of it that distances had kept there.
    [[nodiscard]] std::optional<RecordedCollective>
    suiting(const RecordedCollective::Joining& joining) const;

private:
    std::deque<RecordedCollective> seen_;  ///< the one first seen first
};

}  // namespace switchfold
