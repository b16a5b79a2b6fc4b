// SPDX-License-Identifier: Apache-2.0
// Which nodes of a topology are told apart by what is around them.
#include "interconnect/node_kinds.h"

#include "interconnect/topologies/switched.h"

#include <gtest/gtest.h>

#include <set>

namespace switchfold::node_kinds_test {
namespace {

Topology eight() {
    SwitchedTopology params;
    params.gpus = 8;
    params.lanes_to_switch = {2, 2};
    return params.build();
}

TEST(NodeKinds, AreThoseOfRolesInASymmetricMachine) {
    const std::vector<std::uint32_t> kinds = kinds_of_nodes(eight());
    EXPECT_EQ(std::set(kinds.begin(), kinds.end()).size(), 2U);
    EXPECT_EQ(std::set(kinds.begin(), kinds.begin() + 8).size(), 1U);
}

TEST(NodeKinds, AreToldApartByALinkUnlikeTheOthers) {
    Topology odd = eight();
    odd.edges[3].lanes = 1;
    const std::vector<std::uint32_t> kinds = kinds_of_nodes(odd);
    // The GPU and the switch at its ends differ from their like, which are alike.
    EXPECT_EQ(std::set(kinds.begin(), kinds.end()).size(), 4U);
    Topology down = eight();
    down.edges[3].down = true;
    EXPECT_EQ(kinds_of_nodes(down), kinds);
}

}  // namespace
}  // namespace switchfold::node_kinds_test
