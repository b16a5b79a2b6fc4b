// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"
#include "workloads/changes/placement.h"

#include <vector>

namespace switchfold::changes {

/// The bootstrap's all-gather: a ring over TCP of N - 1 steps. In each a rank sends on what it got
/// last; it can do the next one when it has got its part of this one, `step` after its neighbour
/// sent it. Tells when each rank knows of all, from when each came to it.
[[nodiscard]] std::vector<Time> ring_all_gather(const std::vector<Time>& arrivals, Time step);

/// Host work of one end of a connection: buffers, handles, queue pairs.
struct ConnectionCosts {
    Time in_machine;
    Time network;
};

/// Connections of a ring, made at the first collective. A rank makes its ends one after another,
/// channel by channel, that from the rank before it and then that to the next one; a connection is
/// there when both of its ends are. Tells when all connections of a rank are, from when each came
/// to the collective. Members that have no neighbour make none.
[[nodiscard]] std::vector<Time> connect_rings(
    const Placement& placement, const std::vector<Time>& arrivals, const ConnectionCosts& costs);

}  // namespace switchfold::changes
