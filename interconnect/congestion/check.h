// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "interconnect/topology.h"

namespace switchfold {

/// Tells at /congestion what the topology's network cannot do. \pre it says something about
/// congestion.
void check_congestion(const Topology& topology, ParamChecker& checker);

}  // namespace switchfold
