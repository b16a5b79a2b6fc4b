// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/changes/change.h"
#include "workloads/changes/host_costs.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace switchfold::changes {

/// A part of a change.
struct Phase {
    std::string_view name;
    Time time;
    bool beside = false;     ///< members train on meanwhile; else they stand still
    bool simulated = false;  ///< bytes over a network or storage, or ranks that wait for each
                             ///< other; else a parameter
};

/// What a change is, for its phases.
struct ChangeFacts {
    Method method = Method::kRestart;
    bool died = false;
    bool announced = false;
    Time notice;
    Placement placement;  ///< of the members after it
    std::uint32_t members_before = 1;
    std::uint32_t added = 0;
    Bytes state;
    /// Simulated: state from the first member to all, alone on the machine. Of a restart only where
    /// one rank reads the checkpoint.
    Time broadcast;
};

/// The phases in their order: each is as long as the last member takes behind the last one of the
/// phase before. Those beside training come first. A join's state travels within its
/// last step (joining step, timeline.h) and is not among them.
[[nodiscard]] std::vector<Phase> phases_of(const ChangeFacts& facts, const HostCosts& costs);

/// Sum of those beside training, or of the others.
[[nodiscard]] Time time_of(const std::vector<Phase>& phases, bool beside);

}  // namespace switchfold::changes
