// SPDX-License-Identifier: Apache-2.0
#include "training/placement/down_sets.h"

#include "core/error.h"

#include <algorithm>

namespace switchfold {

std::optional<std::vector<NodeSet>> down_sets(const std::vector<NodeSet>& needs, std::size_t most) {
    SWITCHFOLD_CHECK(needs.size() <= kMostNodesOfSet, "a set of {} nodes", needs.size());
    std::vector<NodeSet> all{0};
    // All sets of one size yield those of the next.
    for (std::size_t from = 0; from < all.size();) {
        const std::size_t until = all.size();
        for (; from < until; ++from) {
            const NodeSet set = all[from];
            for (std::size_t i = 0; i < needs.size(); ++i) {
                const NodeSet node = NodeSet{1} << i;
                if ((set & node) == 0 && (needs[i] & ~set) == 0)
                    all.push_back(set | node);
            }
        }
        const auto fresh = all.begin() + static_cast<std::ptrdiff_t>(until);
        std::sort(fresh, all.end());
        all.erase(std::unique(fresh, all.end()), all.end());
        if (all.size() > most)
            return {};
    }
    return all;
}

}  // namespace switchfold
