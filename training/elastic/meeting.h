// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "training/elastic/placement.h"

#include <vector>

namespace switchfold::elastic {

/// The bootstrap's all-gather: a TCP ring of N - 1 steps. In each step a rank forwards what it
/// received last; it can start the next step when its part has arrived, `step` after its neighbour
/// sent it. Returns when each rank knows all others, given their arrival times.
[[nodiscard]] std::vector<Time> ring_all_gather(const std::vector<Time>& arrivals, Time step);

/// Host work of one end of a connection: buffers, handles, queue pairs.
struct ConnectionCosts {
    Time in_machine;
    Time network;
};

/// Connections of rings, made at the first collective. A rank creates its ends one after another,
/// channel by channel, first towards its predecessor and then towards its successor; a connection
/// exists when both its ends do. Returns when each rank's connections all exist, given the ranks'
/// arrivals at the collective. Members without a neighbour create none.
[[nodiscard]] std::vector<Time> connect_rings(
    const Placement& placement, const std::vector<Time>& arrivals, const ConnectionCosts& costs);

}  // namespace switchfold::elastic
