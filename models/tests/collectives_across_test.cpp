// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/group_layout.h"
#include "models/collectives/fifo/step.h"
#include "models/collectives/functional.h"
#include "models/collectives/library.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

namespace switchfold::collectives_across_test {
namespace {

std::vector<std::uint32_t> first_ranks(std::uint32_t count) {
    std::vector<std::uint32_t> ranks(count);
    std::iota(ranks.begin(), ranks.end(), 0U);
    return ranks;
}

std::uint32_t depth_of(std::uint32_t n, std::uint32_t index, int tree) {
    std::uint32_t depth = 0;
    while ((index = double_binary_tree(n, index, tree).parent) != kNoParent)
        if (++depth > n)
            break;
    return depth;
}

TEST(DoubleBinaryTree, FirstTreeIsNcclsOfFourteen) {
    // The drawing in NCCL's graph/trees.cc.
    const std::uint32_t parents[] = {kNoParent, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12};
    for (std::uint32_t i = 0; i < 14; ++i)
        EXPECT_EQ(double_binary_tree(14, i, 0).parent, parents[i]) << i;
}

TEST(DoubleBinaryTree, WhoHasChildrenInOneTreeHasNoneInTheOther) {
    for (const std::uint32_t n : {2U, 3U, 4U, 6U, 7U, 8U, 14U, 31U, 64U, 100U}) {
        std::vector<std::array<std::uint32_t, 2>> children(n, {0, 0});
        for (const int tree : {0, 1}) {
            std::uint32_t roots = 0;
            for (std::uint32_t i = 0; i < n; ++i) {
                const BinaryTreeNode node = double_binary_tree(n, i, tree);
                if (node.parent == kNoParent) {
                    ++roots;
                    continue;
                }
                ASSERT_LT(node.parent, n);
                ++children[node.parent][static_cast<std::size_t>(tree)];
                EXPECT_LE(depth_of(n, i, tree), 1 + std::bit_width(n - 1)) << n << " " << i;
            }
            EXPECT_EQ(roots, 1U) << n;
        }
        std::uint32_t inner_in_both = 0;
        for (const auto& [a, b] : children) {
            EXPECT_LE(a, 2U);
            EXPECT_LE(b, 2U);
            inner_in_both += a > 0 && b > 0 ? 1 : 0;
        }
        // For odd n the second tree is shifted, not mirrored, so one node, a root, may have
        // children in both.
        EXPECT_LE(inner_in_both, n % 2) << n;
    }
}

TEST(RingOrders, EnterAndLeaveEveryMachineOnceAndByAllItsInterfaces) {
    for (const std::uint32_t machines : {2U, 3U, 4U}) {
        const Topology topology = TestMachine::cluster(machines, 4);
        const auto ranks = first_ranks(machines * 4);
        const GroupLayout layout = lay_out(topology, ranks);
        ASSERT_EQ(layout.machines.size(), machines);
        const auto orders = ring_orders(topology, ranks, layout);
        ASSERT_EQ(orders.size(), 4U);
        std::set<std::uint32_t> entries;
        for (const auto& order : orders) {
            auto sorted = order;
            std::sort(sorted.begin(), sorted.end());
            EXPECT_EQ(sorted, ranks);
            std::uint32_t crossings = 0;
            for (std::size_t i = 0; i < order.size(); ++i) {
                const std::uint32_t from = order[i];
                const std::uint32_t to = order[(i + 1) % order.size()];
                if (layout.machine_of[from] == layout.machine_of[to])
                    continue;
                ++crossings;
                if (layout.machine_of[to] == 0)
                    entries.insert(to);
                if (machines % 2 == 0) {
                    EXPECT_EQ(from % 4, to % 4);  // on the same rail
                }
            }
            EXPECT_EQ(crossings, machines);
        }
        EXPECT_EQ(entries.size(), 4U);
    }
}

CollectiveParams small_units() {
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(256);
    return params;
}

struct Reduced {
    std::vector<std::vector<float>> results;
    CollectiveSpec spec;
};
/// Runs one all-reduce in functional mode, without the engine, but with the engine's layout, rings
/// and trees.
Reduced reduce_across(
    const Topology& topology, Algorithm algorithm, Protocol protocol, std::uint32_t channels,
    const std::vector<std::vector<float>>& before, ElementType type, std::uint32_t width) {
    struct : MemberListener {
        void on_member_done(std::uint32_t, Time) override { ++done; }
        std::size_t done = 0;
    } listener;
    const CollectiveParams params = small_units();
    TestMachine machine(topology, params, CollectivePolicy(), 1);
    std::vector<RankPort*> ports;
    for (const auto& port : machine.ports)
        ports.push_back(port.get());
    Reduced out;
    CollectiveSpec& spec = out.spec;
    spec.bytes = Bytes(before.front().size() * width);
    spec.element = type;
    spec.element_bytes = width;
    spec.ranks = first_ranks(static_cast<std::uint32_t>(before.size()));
    spec.layout = lay_out(topology, spec.ranks);
    spec.rings = ring_orders(topology, spec.ranks, spec.layout);
    spec.trees = tree_parents(spec.layout, spec.rings);
    spec.choice.algorithm = algorithm;
    spec.choice.protocol = protocol;
    spec.choice.channels = channels;
    const CollectiveEnvironment environment{machine.fabric, params, ports, true};
    std::string refused;
    const auto running = make_collective(environment, spec, listener, refused);
    dynamic_cast<Functional&>(*running).buffers() = before;
    for (std::uint32_t i = 0; i < before.size(); ++i)
        running->join(i, nanoseconds(i * 500));
    machine.simulation.run();
    EXPECT_EQ(listener.done, before.size());
    EXPECT_EQ(machine.fabric.values().live(), 0U);
    out.results = dynamic_cast<Functional&>(*running).results();
    return out;
}

/// The sum that a tree gives: every node adds its children's sums, in rank order, to its own value.
float tree_sum(
    const std::vector<std::uint32_t>& parent, const std::vector<float>& own, std::uint32_t node,
    ElementType type) {
    float sum = own[node];
    for (std::uint32_t child = 0; child < parent.size(); ++child)
        if (child != node && parent[child] == node)
            sum = round_to(type, tree_sum(parent, own, child, type) + sum);
    return sum;
}

std::uint32_t root_of(const std::vector<std::uint32_t>& parent) {
    return static_cast<std::uint32_t>(
        std::find(parent.begin(), parent.end(), kNoParent) - parent.begin());
}

struct Format {
    ElementType type;
    std::uint32_t width;
};
constexpr Format kFormats[] = {
    {ElementType::kFloat32, 4}, {ElementType::kFloat16, 2}, {ElementType::kBfloat16, 2}};

void expect_equal_everywhere(
    const std::vector<std::vector<float>>& results, std::size_t element, float expected) {
    for (const auto& result : results)
        ASSERT_EQ(
            std::bit_cast<std::uint32_t>(result[element]), std::bit_cast<std::uint32_t>(expected))
            << element;
}

TEST(TreeAcross, GivesTheSumInTheOrderOfItsChannelsTree) {
    for (const std::uint32_t machines : {2U, 3U, 5U})
        for (const Format& format : kFormats)
            for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
                constexpr std::size_t kCount = 2003;
                constexpr std::uint32_t kChannels = 3;
                const auto before = make_values(machines, machines * 3, kCount, format.type);
                const Reduced out = reduce_across(
                    TestMachine::cluster(machines, 3), Algorithm::kTree, protocol, kChannels,
                    before, format.type, format.width);
                for (std::size_t i = 0; i < kCount; ++i) {
                    std::uint32_t channel = 0;
                    for (std::uint32_t c = 0; c < kChannels; ++c) {
                        const Part part = part_of_channel(kCount * format.width, kChannels, c, 16);
                        if (i * format.width >= part.begin)
                            channel = c;
                    }
                    std::vector<float> own;
                    for (const auto& buffer : before)
                        own.push_back(buffer[i]);
                    const auto& parent = out.spec.trees[channel % out.spec.trees.size()];
                    expect_equal_everywhere(
                        out.results, i, tree_sum(parent, own, root_of(parent), format.type));
                }
            }
}

/// The in-switch sum of one element in each machine: in rank order, rounded once.
std::vector<float> machine_sums(
    const GroupLayout& layout, const std::vector<std::vector<float>>& before, std::size_t element,
    ElementType type) {
    std::vector<float> sums;
    for (const auto& members : layout.machines) {
        float sum = before[members.front()][element];
        for (std::size_t i = 1; i < members.size(); ++i)
            sum += before[members[i]][element];
        sums.push_back(round_to(type, sum));
    }
    return sums;
}

TEST(HeadsAcross, GiveTheSumOfTheMachinesSums) {
    for (const std::uint32_t machines : {2U, 3U, 4U})
        for (const Algorithm algorithm : {Algorithm::kInSwitchTree, Algorithm::kInSwitchRing})
            for (const Format& format : kFormats)
                for (const std::size_t count : {1U, 17U, 5003U}) {
                    const auto before = make_values(count, machines * 4, count, format.type);
                    const Reduced out = reduce_across(
                        TestMachine::cluster(machines, 4), algorithm, Protocol::kSimple, 2, before,
                        format.type, format.width);
                    for (std::size_t i = 0; i < count; ++i) {
                        const auto sums = machine_sums(out.spec.layout, before, i, format.type);
                        std::set<std::uint32_t> possible;
                        const auto add = [&possible](float sum) {
                            possible.insert(std::bit_cast<std::uint32_t>(sum));
                        };
                        if (algorithm == Algorithm::kInSwitchTree) {
                            for (const int tree : {0, 1}) {
                                std::vector<std::uint32_t> parent;
                                for (std::uint32_t m = 0; m < machines; ++m)
                                    parent.push_back(double_binary_tree(machines, m, tree).parent);
                                add(tree_sum(parent, sums, root_of(parent), format.type));
                            }
                        } else {
                            for (std::size_t first = 0; first < machines; ++first) {
                                float sum = sums[first];
                                for (std::size_t k = 1; k < machines; ++k)
                                    sum = round_to(format.type, sum + sums[(first + k) % machines]);
                                add(sum);
                            }
                        }
                        const float sum = out.results[0][i];
                        ASSERT_TRUE(possible.contains(std::bit_cast<std::uint32_t>(sum))) << i;
                        expect_equal_everywhere(out.results, i, sum);
                    }
                }
}

RC_GTEST_PROP(CollectivesAcrossProperty, EveryKindIsRightOnEveryCluster, ()) {
    const std::uint32_t machines = *rc::gen::inRange(2U, 5U);
    const std::uint32_t gpus = *rc::gen::inRange(1U, 5U);
    const std::uint32_t n = machines * gpus;
    CollectiveOperation operation;
    operation.kind = *rc::gen::element(
        CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
        CollectiveKind::kBroadcast, CollectiveKind::kReduce, CollectiveKind::kAllToAll);
    operation.datatype =
        *rc::gen::element(Datatype::kFloat32, Datatype::kFloat16, Datatype::kBfloat16);
    const std::uint64_t grains = *rc::gen::inRange<std::uint64_t>(1, 1000);
    operation.bytes = Bytes(grains * 16 * n);
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(std::uint64_t{128} << *rc::gen::inRange(0U, 6U));
    params.read_over_link = *rc::gen::arbitrary<bool>();
    params.channels = *rc::gen::inRange(1U, 25U);
    CollectivePolicy how{
        *rc::gen::element(
            Algorithm::kAuto, Algorithm::kRing, Algorithm::kTree, Algorithm::kInSwitchTree,
            Algorithm::kInSwitchRing),
        *rc::gen::element(Protocol::kAuto, Protocol::kLl, Protocol::kLl128, Protocol::kSimple), 0,
        false};
    if (gpus == 1 && how.algorithm != Algorithm::kRing)
        how.algorithm = Algorithm::kTree;
    how.registered = *rc::gen::arbitrary<bool>();
    TestMachine machine(TestMachine::cluster(machines, gpus), params, how, 1);
    const CollectiveRecord record = machine.run(operation);
    RC_ASSERT(machine.ended == n);
    RC_ASSERT(machine.engine->wrong_results().empty());
    RC_ASSERT(machine.fabric.values().live() == 0U);
    RC_ASSERT(record.end > record.start);
}

}  // namespace
}  // namespace switchfold::collectives_across_test
