// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"
#include "workloads/graph/late_peers.h"

namespace switchfold {

/// set_peers_late() with what this machine needs for the transfers, each kind and size run once
/// alone with the blocks and the protocol of the trace. Sizes must be known or estimated.
LatePeers derive_late_peers(const SystemParams& system, ExecutionGraph& graph);

}  // namespace switchfold
