// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/member_pairs.h"

#include "models/collectives/running_collective.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace switchfold {

namespace {

void add(MemberPairs& pairs, const CollectiveSpec& spec, std::uint32_t a, std::uint32_t b) {
    pairs.insert(std::minmax(spec.ranks[a], spec.ranks[b]));
}

}  // namespace

MemberPairs ring_neighbours(const CollectiveSpec& spec) {
    MemberPairs pairs;
    for (const std::vector<std::uint32_t>& ring : spec.rings)
        for (std::size_t i = 0; i < ring.size(); ++i)
            add(pairs, spec, ring[i], ring[(i + 1) % ring.size()]);
    return pairs;
}

MemberPairs tree_neighbours(const CollectiveSpec& spec) {
    MemberPairs pairs;
    for (const std::vector<std::uint32_t>& parents : spec.trees)
        for (std::uint32_t position = 0; position < parents.size(); ++position)
            if (parents[position] < parents.size())
                add(pairs, spec, position, parents[position]);
    return pairs;
}

MemberPairs all_pairs(const CollectiveSpec& spec) {
    MemberPairs pairs;
    for (std::uint32_t i = 0; i < spec.ranks.size(); ++i)
        for (std::uint32_t k = 0; k < i; ++k)
            add(pairs, spec, i, k);
    return pairs;
}

}  // namespace switchfold
