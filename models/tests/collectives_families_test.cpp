// SPDX-License-Identifier: Apache-2.0
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace switchfold::collectives_families_test {
namespace {

/// A topology family and one topology of it, of random size.
struct Family {
    std::string name;
    Topology topology;
};

Family single_machine() {
    const std::uint32_t n = *rc::gen::inRange(2U, 7U);
    switch (*rc::gen::inRange(0, 4)) {
    case 0:
        return {"switched", TestMachine::hgx(n).build()};
    case 1: {
        BoardsTopology boards;
        boards.gpus_per_board = n;
        boards.switches_per_board = 2;
        boards.trunk_lanes = 2;
        return {"boards", boards.build()};
    }
    case 2: {
        DirectTopology direct;
        direct.gpus = n;
        for (std::uint32_t i = 1; i < n; ++i)
            direct.edges.push_back({*rc::gen::inRange(0U, i), i, *rc::gen::inRange(1U, 3U)});
        return {"direct", direct.build()};
    }
    default: {
        FullMeshTopology mesh;
        mesh.gpus = n;
        return {"full_mesh", mesh.build()};
    }
    }
}

NetworkParams network(std::uint32_t machines, std::uint32_t nics) {
    switch (*rc::gen::inRange(0, 4)) {
    case 0:
        return SingleSwitchNetwork{};
    case 1: {
        RailNetwork rail;
        rail.machines_per_leaf = *rc::gen::inRange(1U, machines + 1);
        rail.spines = *rc::gen::inRange(1U, 3U);
        return rail;
    }
    case 2: {
        FatTreeNetwork tree;
        tree.levels = 2;
        tree.ports = 8;
        return tree;
    }
    default: {
        DragonflyPlusNetwork dragonfly;
        dragonfly.groups = 2;
        dragonfly.leaves = (machines * nics + 3) / 4;
        dragonfly.spines = 2;
        dragonfly.ends_per_leaf = 2;
        return dragonfly;
    }
    }
}

Family cluster() {
    ClusterTopology c;
    c.nodes = *rc::gen::inRange(2U, 5U);
    const std::uint32_t gpus = *rc::gen::inRange(1U, 4U);
    c.node.value = TestMachine::hgx(gpus);
    c.nics.count = *rc::gen::inRange(1U, gpus + 1);
    c.nics.pcie_switches = 1;
    c.nics.gpu_link = LinkParams{};
    c.network = network(c.nodes, c.nics.count);
    return {"cluster", c.build()};
}

Algorithm algorithm_for(const Topology& topology, const std::vector<std::uint32_t>& ranks) {
    std::vector<Algorithm> possible{Algorithm::kAuto, Algorithm::kRing, Algorithm::kTree};
    for (const Algorithm algorithm :
         {Algorithm::kInSwitch, Algorithm::kInSwitchTree, Algorithm::kInSwitchRing})
        if (why_not(algorithm, topology, ranks).empty())
            possible.push_back(algorithm);
    return *rc::gen::elementOf(possible);
}

RC_GTEST_PROP(CollectivesOnFamilies, EveryKindIsRightForEveryGroupByEveryAlgorithm, ()) {
    const Family family = *rc::gen::arbitrary<bool>() ? single_machine() : cluster();
    const std::uint32_t gpus = family.topology.gpus();
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < gpus; ++rank)
        if (rank < 2 || *rc::gen::inRange(0, 4) > 0)
            ranks.push_back(rank);
    const auto n = static_cast<std::uint32_t>(ranks.size());
    CollectiveOperation operation;
    operation.kind = *rc::gen::element(
        CollectiveKind::kAllReduce, CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
        CollectiveKind::kAllGather, CollectiveKind::kBroadcast, CollectiveKind::kReduce,
        CollectiveKind::kAllToAll);
    operation.datatype =
        *rc::gen::element(Datatype::kFloat32, Datatype::kFloat16, Datatype::kBfloat16);
    operation.bytes = Bytes(*rc::gen::inRange<std::uint64_t>(1, 700) * 16 * n);
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(std::uint64_t{128} << *rc::gen::inRange(0U, 6U));
    params.channels = *rc::gen::inRange(1U, 13U);
    CollectivePolicy policy;
    policy.algorithm = algorithm_for(family.topology, ranks);
    RC_TAG(family.name, std::string(enum_name(policy.algorithm)));
    TestMachine machine(family.topology, params, policy, 1, ranks);
    const CollectiveRecord record = machine.run(operation);
    RC_ASSERT(machine.ended == n);
    RC_ASSERT(machine.engine->wrong_results().empty());
    RC_ASSERT(machine.fabric.values().live() == 0U);
    RC_ASSERT(record.end > record.start);
}

}  // namespace
}  // namespace switchfold::collectives_families_test
