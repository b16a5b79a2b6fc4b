// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// Interns groups: each distinct group gets one index.
class GroupTable {
public:
    /// Appends to `groups`, which must outlive the table.
    explicit GroupTable(std::vector<Group>& groups) : groups_(groups) {
        for (std::uint32_t i = 0; i < groups.size(); ++i)
            by_name_.emplace(groups[i].name, i);
    }
    std::uint32_t index(Group group) {
        const auto [first, last] = by_name_.equal_range(group.name);
        for (auto at = first; at != last; ++at)
            if (groups_[at->second].ranks == group.ranks)
                return at->second;
        const auto index = static_cast<std::uint32_t>(groups_.size());
        by_name_.emplace(group.name, index);
        groups_.push_back(std::move(group));
        return index;
    }

private:
    std::vector<Group>& groups_;
    std::multimap<std::string, std::uint32_t> by_name_;
};

}  // namespace switchfold
