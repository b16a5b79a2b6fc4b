// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/elastic/change.h"
#include "training/elastic/host_costs.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace switchfold::elastic {

/// A phase of a change.
struct Phase {
    std::string_view name;
    Time time;
    bool beside = false;     ///< members keep training meanwhile; otherwise they stand still
    bool simulated = false;  ///< result of a simulation (transfers, or ranks that wait for each
                             ///< other), otherwise a parameter
};

/// Facts about a change that determine its phases.
struct ChangeFacts {
    Method method = Method::kRestart;
    bool died = false;
    bool announced = false;
    Time notice;
    Placement placement;  ///< of the members after the change
    std::uint32_t ranks_before = 1;
    std::uint32_t added = 0;  ///< ranks
    HeldState state;
    /// Simulated broadcast of the state from the first member to all, on an otherwise idle machine.
    /// In a restart, only if a single rank reads the checkpoint.
    Time broadcast;
    /// Simulated broadcast of the weights from the first member to all (HostCosts::sync_weights).
    Time weights;
    /// Simulated moves of what members divide, when nothing else is possible beside them.
    Time divided_anew;
};

/// The phases in order. The length of a phase is the time from the last member's end of the
/// previous phase to the last member's end of this one. Phases beside training come first. A join's
/// state transfer happens within its last step (JoiningStep, timeline.h) and is not included.
[[nodiscard]] std::vector<Phase> phases_of(const ChangeFacts& facts, const HostCosts& costs);

/// Sum of the phases beside training, or of the others.
[[nodiscard]] Time time_of(const std::vector<Phase>& phases, bool beside);

}  // namespace switchfold::elastic
