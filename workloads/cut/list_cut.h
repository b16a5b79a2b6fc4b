// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/cut/cut_graph.h"

#include <optional>

namespace switchfold {

/// List scheduling: layer by layer, those with the longest way to the end first, each goes to the
/// part on which its passes would end first, behind what is there already and behind its inputs'
/// messages. Of layers in pieces a part may begin with the first (after HEFT: Topcuoglu et al.,
/// IEEE TPDS 13(3), 2002). For any number of layers and parts; nothing is proven. None if a layer
/// finds no part with memory left.
[[nodiscard]] std::optional<NodeParts> list_cut(const CutGraph& graph);

}  // namespace switchfold
