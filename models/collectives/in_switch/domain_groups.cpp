// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/domain_groups.h"

#include <vector>

namespace switchfold {

DomainGroups create_folded_groups(
    Fabric& fabric, std::uint32_t first, const NvlsChunks& pieces, std::uint64_t unit,
    ElementType element, std::string& refused) {
    // Each head's piece begins so many stripes further than the first's.
    std::vector<std::uint32_t> turns;
    for (std::uint32_t head = 0; head < pieces.heads(); ++head)
        turns.push_back(static_cast<std::uint32_t>(
            (pieces.piece(0, 0, head).begin - pieces.piece(0, 0, 0).begin) / unit));
    DomainGroups groups;
    groups.all = fabric.create_folded_group(first, turns, element, refused);
    if (!groups.all)
        return {};
    const std::uint32_t working = pieces.working_heads(0, pieces.loops(0) - 1);
    if (working == pieces.heads())
        return groups;
    turns.resize(working);
    groups.last = fabric.create_folded_group(first, turns, element, refused);
    if (!groups.last) {
        groups.remove(fabric);
        return {};
    }
    return groups;
}

}  // namespace switchfold
