// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/readers/chakra/group_members.h"
#include "workloads/readers/chakra/node.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold::chakra {

/// The process groups of a trace. Their ranks are known if PyTorch recorded them (node "##
/// process_group:init ##") or `told` holds them; a group without a name is the world, and one of
/// unknown members has no ranks.
class ProcessGroups {
public:
    ProcessGroups(
        const std::vector<Node>& nodes, std::uint32_t world_size, const GroupMembers& told);
    /// Index of the group with this name; adds the group if needed.
    std::uint32_t index(const std::string& name);
    [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
    /// Total members of all groups.
    [[nodiscard]] std::uint64_t members() const { return members_; }

private:
    void read(const std::string& values);

    std::vector<std::uint32_t> world_;
    GroupMembers recorded_;
    std::vector<Group> groups_;
    std::uint64_t members_ = 0;
};

}  // namespace switchfold::chakra
