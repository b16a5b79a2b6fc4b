// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/placement/placement_graph.h"

#include <optional>

namespace switchfold {

/// List scheduling after HEFT (Topcuoglu et al., IEEE TPDS 13(3), 2002): layers are taken by
/// decreasing path length to the end; each goes to the part on which its passes would end first,
/// after earlier work on that part and after its inputs' messages. Layers in pieces may start with
/// the first piece. For any number of layers and parts; without any guarantee. Nothing if a layer
/// fits no part's memory.
[[nodiscard]] std::optional<NodeParts> list_placement(const PlacementGraph& graph);

}  // namespace switchfold
