// SPDX-License-Identifier: Apache-2.0
#include "interconnect/path_finder.h"
#include "interconnect/topology_builder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace switchfold::cluster_test {
namespace {

SwitchedTopology hgx(std::uint32_t gpus = 8) {
    SwitchedTopology t;
    t.gpus = gpus;
    t.lanes_to_switch = {2, 2};
    return t;
}

ClusterTopology cluster(std::uint32_t machines, NetworkParams network) {
    ClusterTopology c;
    c.nodes = machines;
    c.node.value = hgx();
    c.nics.count = 8;
    c.nics.pcie_switches = 4;
    c.nics.gpu_link = LinkParams{};
    c.network = std::move(network);
    return c;
}

RailNetwork rail(std::uint32_t machines_per_leaf, std::uint32_t spines) {
    RailNetwork n;
    n.machines_per_leaf = machines_per_leaf;
    n.spines = spines;
    return n;
}

FatTreeNetwork fat_tree(std::uint32_t levels, std::uint32_t ports) {
    FatTreeNetwork n;
    n.levels = levels;
    n.ports = ports;
    return n;
}

std::vector<NodeKind> kinds(const Topology& topology, std::uint32_t from, const Path& path) {
    std::vector<NodeKind> seen{topology.nodes[from].kind};
    for (const std::uint32_t hop : path.hops) {
        const TopologyEdge& edge = topology.edges[hop / 2];
        seen.push_back(topology.nodes[(hop & 1U) != 0 ? edge.a : edge.b].kind);
    }
    return seen;
}

std::size_t count(const Topology& topology, NodeKind kind) {
    return static_cast<std::size_t>(
        std::count_if(topology.nodes.begin(), topology.nodes.end(), [&](const TopologyNode& n) {
            return n.kind == kind;
        }));
}

TEST(Cluster, RanksComeFirstAndKnowTheirMachine) {
    const Topology t = cluster(3, SingleSwitchNetwork{}).build();
    EXPECT_EQ(t.gpus(), 24U);
    EXPECT_EQ(t.machines(), 3U);
    for (std::uint32_t rank = 0; rank < 24; ++rank) {
        EXPECT_EQ(t.nodes[rank].kind, NodeKind::kGpu);
        EXPECT_EQ(t.machine_of(rank), rank / 8);
    }
    EXPECT_EQ(count(t, NodeKind::kNic), 24U);
    EXPECT_EQ(count(t, NodeKind::kPcie), 12U);
    EXPECT_EQ(count(t, NodeKind::kSwitch), 3U * 2 + 1);
    std::set<std::string> names;
    for (const TopologyNode& node : t.nodes)
        EXPECT_TRUE(names.insert(node.name).second) << node.name;
}

TEST(Cluster, NearestNicsHangOnTheGpusPcieSwitch) {
    const Topology t = cluster(2, SingleSwitchNetwork{}).build();
    const auto nics = nearest_nics(t);
    for (std::uint32_t rank = 0; rank < t.gpus(); ++rank) {
        ASSERT_EQ(nics[rank].size(), 2U);
        EXPECT_EQ(nics[rank], nics[rank / 2 * 2]);  // two GPUs share a switch and its two NICs
        EXPECT_EQ(t.nodes[nics[rank][0]].machine, t.machine_of(rank));
    }
    EXPECT_NE(nics[0], nics[2]);
}

TEST(Cluster, PathsInsideAMachineStayOnItsSwitches) {
    const Topology t = cluster(2, SingleSwitchNetwork{}).build();
    PathFinder finder(t);
    const auto paths = finder.shortest(8, 9);  // these two also share a PCIe switch
    ASSERT_EQ(paths.size(), 2U);
    for (const Path& path : paths)
        EXPECT_EQ(
            kinds(t, 8, path), (std::vector{NodeKind::kGpu, NodeKind::kSwitch, NodeKind::kGpu}));
}

TEST(Cluster, PathsBetweenMachinesLeadOverNicsAndTheNetwork) {
    const Topology t = cluster(4, rail(2, 2)).build();
    PathFinder finder(t);
    // Same pod: each of a GPU's two NICs leads to its own rail.
    const auto near = finder.shortest(1, 9);
    ASSERT_EQ(near.size(), 2U);
    for (const Path& path : near)
        EXPECT_EQ(
            kinds(t, 1, path),
            (std::vector{
                NodeKind::kGpu, NodeKind::kPcie, NodeKind::kNic, NodeKind::kSwitch, NodeKind::kNic,
                NodeKind::kPcie, NodeKind::kGpu}));
    // Another pod, through a spine: 2 NICs x 2 spines x 2 NICs at the destination.
    const auto far = finder.shortest(1, 17);
    ASSERT_EQ(far.size(), 8U);
    EXPECT_EQ(far.front().hops.size(), 8U);
}

/// NVIDIA's table of scalable units of 32 machines (DGX SuperPOD, reference architecture of B200,
/// docs.nvidia.com/dgx-superpod, "Larger SuperPOD component counts"): machines, leaves, spines,
/// cores.
TEST(Cluster, RailsGrowAsTheReferenceArchitectureDoes) {
    struct Row {
        std::uint32_t machines, leaves, spines, cores;
    };
    RailNetwork network = rail(32, 16);
    network.lanes_to_spine = 2;
    network.node.ports = 64;
    for (const Row& row :
         {Row{128, 32, 16, 0}, Row{256, 64, 32, 0}, Row{512, 128, 128, 64},
          Row{1024, 256, 256, 128}, Row{2048, 512, 512, 256}}) {
        const std::uint32_t pods = row.machines / 32;
        const RailNetwork::Levels made = network.levels(pods, 8);
        EXPECT_EQ(pods * 8, row.leaves);
        EXPECT_EQ(made.spines * made.groups, row.spines) << row.machines;
        EXPECT_EQ(made.cores * made.spines, row.cores) << row.machines;
    }
}

TEST(Cluster, RailsOfAnySizeStayWithinTheirPorts) {
    RailNetwork network = rail(32, 16);
    network.lanes_to_spine = 2;
    network.node.ports = 64;
    for (std::uint32_t machines = 100; machines <= 4096; machines += 37) {
        const std::uint32_t pods = (machines + 31) / 32;
        const RailNetwork::Levels made = network.levels(pods, 8);
        EXPECT_GE(made.groups * made.pods, pods);
        EXPECT_EQ(made.spines * made.lanes, 32U);  // uplinks of a leaf
        // A spine: as many lanes up as down, within its ports. A core joins all groups.
        const std::uint32_t down = made.pods * 8 * made.lanes;
        EXPECT_EQ(made.cores * made.core_lanes, made.groups > 1 ? down : 0) << machines;
        EXPECT_LE(down + made.cores * made.core_lanes, 64U);
        EXPECT_LE(made.groups * made.core_lanes, 64U);
    }
}

TEST(Cluster, RailsOfThreeLevelsHaveAllTheirCores) {
    RailNetwork network = rail(2, 2);
    network.node.ports = 16;
    network.lanes_to_spine = 1;
    // A pod of 8 leaves takes half of a spine's ports: 6 pods are 6 groups of 2 spines, each joined
    // to 4 cores by 2 lanes.
    const Topology t = cluster(12, network).build();
    EXPECT_EQ(count(t, NodeKind::kSwitch), 12U * 2 + 6 * 8 + 6 * 2 + 2 * 4);
    PathFinder finder(t);
    // NIC, leaf, spine, core, spine, leaf, NIC.
    EXPECT_EQ(finder.shortest(0, 8 * 11).front().hops.size(), 10U);
}

RC_GTEST_PROP(Cluster, AllPairsAreJoinedAndPathsAreWalks, ()) {
    const auto pick = *rc::gen::inRange(0, 4);
    NetworkParams network = SingleSwitchNetwork{};
    if (pick == 1)
        network = rail(2, 3);
    if (pick == 2)
        network = fat_tree(*rc::gen::element(2U, 3U), 8);
    if (pick == 3) {
        DragonflyPlusNetwork dragonfly;
        dragonfly.groups = 3;
        dragonfly.leaves = dragonfly.spines = dragonfly.global_links = 2;
        dragonfly.ends_per_leaf = 4;
        network = dragonfly;
    }
    const Topology t = cluster(3, network).build();
    PathFinder finder(t);
    const auto from = *rc::gen::inRange<std::uint32_t>(0, t.gpus());
    const auto to = *rc::gen::inRange<std::uint32_t>(0, t.gpus());
    RC_PRE(from != to);
    const auto paths = finder.shortest(from, to);
    RC_ASSERT(!paths.empty());
    std::set<std::vector<std::uint32_t>> distinct;
    for (const Path& path : paths) {
        RC_ASSERT(distinct.insert(path.hops).second);
        std::uint32_t at = from;
        for (std::size_t i = 0; i < path.hops.size(); ++i) {
            const TopologyEdge& edge = t.edges[path.hops[i] / 2];
            const bool back = (path.hops[i] & 1U) != 0;
            RC_ASSERT(at == (back ? edge.b : edge.a));
            at = back ? edge.a : edge.b;
            if (i + 1 < path.hops.size())
                RC_ASSERT(t.nodes[at].kind != NodeKind::kGpu);
            const std::uint32_t machine = t.nodes[at].machine;
            RC_ASSERT(
                machine == kNoMachine || machine == t.machine_of(from) ||
                machine == t.machine_of(to));
        }
        RC_ASSERT(at == to);
    }
}

/// A GPU has two interfaces behind its PCIe switch, and so has its peer, on the same rails or on
/// others: of many paths few are taken, which use both interfaces of each equally, nearly always in
/// turn.
RC_GTEST_PROP(Cluster, FewOfManyPathsTakeInterfacesInTurn, ()) {
    const auto spines = *rc::gen::inRange<std::uint32_t>(4, 20);
    const Topology t = cluster(4, rail(2, spines)).build();
    PathFinder finder(t);
    const auto from = *rc::gen::inRange<std::uint32_t>(0, 8);
    const auto to = *rc::gen::inRange<std::uint32_t>(8, 32);
    RC_PRE(to >= 16 || from / 2 != (to - 8) / 2);  // else below the same leaves
    const std::uint32_t limit = *rc::gen::element(8U, 12U, 16U);
    std::map<std::uint32_t, std::uint32_t> uses;
    std::set<std::vector<std::uint32_t>> distinct;
    std::vector<std::uint32_t> order;
    const std::vector<Path> paths = finder.shortest(from, to, limit);
    RC_ASSERT(paths.size() == limit);
    for (const Path& path : paths) {
        RC_ASSERT(distinct.insert(path.hops).second);
        for (const std::uint32_t hop : path.hops)
            if (const std::uint32_t node = t.end_of(hop); t.nodes[node].kind == NodeKind::kNic) {
                ++uses[node];
                order.push_back(node);
            }
    }
    RC_ASSERT(uses.size() == 4U);
    for (const auto& [nic, count] : uses)
        RC_ASSERT(count == limit / 2);
    std::uint32_t again = 0;
    for (std::size_t i = 2; i < order.size(); ++i)
        again += order[i] == order[i - 2] ? 1U : 0U;
    RC_ASSERT(again <= 2 * (limit / (2 * spines)));
}

TEST(Cluster, RefusesNicsThatDoNotFit) {
    ClusterTopology c = cluster(2, SingleSwitchNetwork{});
    c.nics.count = 2;  // for four PCIe switches
    ParamChecker few;
    c.check(few);
    ASSERT_EQ(few.found().size(), 1U);
    EXPECT_EQ(few.found()[0].first, "/nics/count");
    c.nics.gpu_link.reset();
    ParamChecker missing;
    c.check(missing);
    ASSERT_EQ(missing.found().size(), 1U);
    EXPECT_EQ(missing.found()[0].first, "/nics/gpu_link");
}

/// Steps from every node to one, and the number of shortest ways, by a plain search: paths between
/// machines lead through what is in no machine or in one of the two, and through no GPU.
std::vector<std::pair<std::uint32_t, std::uint64_t>>
all_ways(const Topology& t, const Adjacency& neighbours, std::uint32_t from, std::uint32_t to) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> found(t.nodes.size(), {UINT32_MAX, 0});
    found[to] = {0, 1};
    std::vector<std::uint32_t> queue{to};
    for (std::size_t next = 0; next < queue.size(); ++next)
        for (const Neighbour& n : neighbours[queue[next]]) {
            const TopologyNode& node = t.nodes[n.node];
            const bool inside =
                node.machine == kNoMachine ||
                ((node.machine == t.machine_of(from) || node.machine == t.machine_of(to)) &&
                 node.kind != NodeKind::kGpu);
            if (!inside && n.node != from)
                continue;
            if (found[n.node].first == UINT32_MAX) {
                found[n.node].first = found[queue[next]].first + 1;
                queue.push_back(n.node);
            }
            if (found[n.node].first == found[queue[next]].first + 1)
                found[n.node].second += found[queue[next]].second;
        }
    return found;
}

RC_GTEST_PROP(ClusterProperty, PathsAreShortestAndAllOfThemAreFound, ()) {
    NetworkParams network = SingleSwitchNetwork{};
    switch (*rc::gen::inRange(0, 3)) {
    case 0:
        network = rail(*rc::gen::inRange(1U, 4U), *rc::gen::inRange(1U, 4U));
        break;
    case 1:
        network = fat_tree(*rc::gen::inRange(2U, 4U), 16);
        break;
    default:
        break;
    }
    const auto machines = *rc::gen::inRange(2U, 7U);
    const Topology t = cluster(machines, network).build();
    const auto from = *rc::gen::inRange(0U, t.gpus());
    const std::uint32_t inside = t.gpus() / machines;
    const auto to = (from + *rc::gen::inRange(inside, t.gpus() - inside + 1)) % t.gpus();
    RC_PRE(t.machine_of(from) != t.machine_of(to));
    PathFinder finder(t);
    const auto steps = all_ways(t, finder.neighbours(), from, to);
    constexpr std::uint32_t kMost = 1000;
    const std::vector<Path> paths = finder.shortest(from, to, kMost);
    RC_ASSERT(paths.size() == std::min<std::uint64_t>(kMost, steps[from].second));
    std::set<std::vector<std::uint32_t>> different;
    for (const Path& path : paths) {
        RC_ASSERT(path.hops.size() == steps[from].first);
        std::uint32_t node = from;
        for (const std::uint32_t hop : path.hops) {
            const std::uint32_t next = t.end_of(hop);
            RC_ASSERT(steps[next].first + 1 == steps[node].first);
            node = next;
        }
        RC_ASSERT(node == to);
        different.insert(path.hops);
    }
    RC_ASSERT(different.size() == paths.size());
}

TEST(Cluster, RefusesMoreLinksThanPortsAndMoreEndsThanRoom) {
    SingleSwitchNetwork small;
    small.node.ports = 15;
    ParamChecker ports;
    cluster(2, small).check(ports);
    ASSERT_EQ(ports.found().size(), 1U);
    EXPECT_EQ(ports.found()[0].first, "/network/switch/ports");
    ParamChecker room;
    cluster(3, fat_tree(2, 4)).check(room);
    ASSERT_EQ(room.found().size(), 1U);
    EXPECT_NE(room.found()[0].second.find("at most 8 ends"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::cluster_test
