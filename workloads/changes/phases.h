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
    bool simulated = false;  ///< bytes over a network or storage; else a parameter
};

/// What a change is, for its phases.
struct ChangeFacts {
    Method method = Method::kRestart;
    bool died = false;
    bool announced = false;
    Time notice;
    std::uint32_t members = 1;  ///< after it
    std::uint32_t added = 0;
    std::uint32_t machines = 1;         ///< on which members lie after it
    std::uint32_t gpus_of_machine = 1;  ///< the most that members use of one machine
    Bytes state;
    /// Simulated: state from the first member to all, alone on the machine. Of a restart only where
    /// one rank reads the checkpoint.
    Time broadcast;
};

/// The phases in their order. Those beside training come first. A join's state travels within its
/// last step (joining step, timeline.h) and is not among them.
[[nodiscard]] std::vector<Phase> phases_of(const ChangeFacts& facts, const HostCosts& costs);

/// Sum of those beside training, or of the others.
[[nodiscard]] Time time_of(const std::vector<Phase>& phases, bool beside);

}  // namespace switchfold::changes
