// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/kernel/simulation.h"
#include "core/params_reader.h"
#include "interconnect/tests/pusher.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace switchfold::reduction_test {
namespace {

struct Machine {
    Topology topology;
    std::vector<std::uint32_t> ranks;
};

RC_GTEST_PROP(PushProperty, NoContributionIsLostOrCountedTwice, ()) {
    const ReductionUnitParams unit = any_unit();
    const std::uint32_t gpus = *rc::gen::inRange(2U, 9U);
    Simulation simulation;
    Fabric fabric("fabric", family(*rc::gen::inRange(0, 3), gpus, unit), simulation.scheduler());
    Pusher pusher(fabric, ElementType::kFloat32);
    const std::uint64_t lines = *rc::gen::inRange<std::uint64_t>(1, 60);
    std::vector<std::vector<float>> expected(lines);
    const std::uint64_t skew = *rc::gen::inRange<std::uint64_t>(0, 20);
    for (std::uint32_t m = 0; m < gpus; ++m)
        for (std::uint64_t i = 0; i < lines; ++i) {
            // Members may start at different lines.
            const std::uint64_t line = (i + m * skew) % lines;
            std::vector<float> values(1 + line % 40);
            expected[line].resize(values.size());
            for (std::size_t e = 0; e < values.size(); ++e) {
                values[e] = static_cast<float>((m + 1) * (line + 1) + e);
                expected[line][e] += values[e];
            }
            pusher.push(m, line, values);
        }
    simulation.run();
    RC_ASSERT(pusher.arrived.size() == lines * gpus);
    for (const auto& [key, times] : pusher.arrived)
        RC_ASSERT(times == 1);
    for (const auto& [key, sum] : pusher.sums)
        RC_ASSERT(sum == expected[key.first]);
    RC_ASSERT(fabric.values().live() == 0U);
    RC_ASSERT(fabric.blocked().empty());
    expect_clean(fabric);
}

struct PushRun {
    double us = 0;
    std::uint64_t partials = 0;
    ReductionUnitStatistics statistics;
};

/// All members push 400 units of 1 KiB; each member is `skew` units ahead of the previous.
PushRun pushes(int kind, const ReductionUnitParams& unit, std::uint64_t skew = 0) {
    const std::uint32_t gpus = 8;
    Simulation simulation;
    Fabric fabric("fabric", family(kind, gpus, unit), simulation.scheduler());
    Pusher pusher(fabric, ElementType::kFloat32);
    for (std::uint64_t line = 0; line < 400; ++line)
        for (std::uint32_t m = 0; m < gpus; ++m)
            pusher.push(m, (line + m * skew) % 400, std::vector<float>(256, 1.0F));
    const Time end = simulation.run();
    EXPECT_EQ(pusher.arrived.size(), 400U * gpus);
    return {to_microseconds(end), pusher.partials, total(fabric)};
}

TEST(Push, EverySwitchOfATreeReducesOnceAndTheRootSendsTheSumDown) {
    ReductionUnitParams unit;
    const PushRun flat = pushes(0, unit);
    EXPECT_EQ(flat.statistics.reductions, 400U);
    EXPECT_EQ(flat.partials, 0U);
    // Two boards: the root adds its board's four members and one partial sum.
    const PushRun boards = pushes(1, unit);
    EXPECT_EQ(boards.statistics.reductions, 2 * 400U);
    EXPECT_EQ(boards.statistics.bytes_in, 400U * 1024 * (4 + 4 + 1));
    // Four leaves of two GPUs, then a spine.
    const PushRun tree = pushes(2, unit);
    EXPECT_EQ(tree.statistics.bytes_in, 400U * 1024 * (8 + 4));
}

TEST(Push, MoreEntriesAreNeverSlower) {
    for (const int kind : {0, 1, 2}) {
        double before = 1e9;
        for (const std::uint32_t entries : {8U, 32U, 128U, 1024U}) {
            ReductionUnitParams unit;
            unit.entries = entries;
            unit.timeout = Time(0);
            const PushRun run = pushes(kind, unit);
            EXPECT_LE(run.us, before * 1.02) << kind << " " << entries;
            before = run.us;
        }
    }
}

TEST(Push, EvictionsGoToTheHomeAndCostTime) {
    ReductionUnitParams unit;
    unit.entries = 16;
    unit.when_full = WhenFull::kEvict;
    unit.timeout = microseconds(2);
    const PushRun run = pushes(0, unit, 37);
    EXPECT_GT(run.statistics.evictions, 0U);
    EXPECT_GT(run.statistics.stalled_requests, 0U);
    EXPECT_GT(run.partials, 0U);
    unit.entries = 4096;
    const PushRun roomy = pushes(0, unit, 37);
    EXPECT_EQ(roomy.partials, 0U);
    EXPECT_LT(roomy.us, run.us);
}

TEST(Push, ALateMemberFindsItsLinesTimedOut) {
    ReductionUnitParams unit;
    unit.timeout = microseconds(1);
    Simulation simulation;
    Fabric fabric("fabric", family(0, 4, unit), simulation.scheduler());
    Pusher pusher(fabric, ElementType::kFloat32);
    struct Late : EventHandler {
        void on_event(std::uint64_t) override { pusher->push(3, 0, {4.0F}); }
        Pusher* pusher = nullptr;
    } late;
    late.pusher = &pusher;
    for (std::uint32_t m = 0; m < 3; ++m)
        pusher.push(m, 0, {static_cast<float>(m)});
    simulation.scheduler().at(microseconds(50), late, 0);
    simulation.run();
    EXPECT_EQ(pusher.partials, 2U);
    EXPECT_EQ(total(fabric).timeouts, 2U);
    ASSERT_EQ(pusher.sums.size(), 4U);
    EXPECT_EQ((pusher.sums[{0, 2}]), std::vector<float>{7.0F});
}

TEST(Push, WithoutTimeOutALateMemberOnlyDelays) {
    ReductionUnitParams unit;
    unit.timeout = Time(0);
    Simulation simulation;
    Fabric fabric("fabric", family(0, 3, unit), simulation.scheduler());
    Pusher pusher(fabric, ElementType::kFloat32);
    pusher.push(0, 0, {1.0F});
    pusher.push(1, 0, {1.0F});
    simulation.run();
    EXPECT_TRUE(pusher.sums.empty());
    pusher.push(2, 0, {1.0F});
    simulation.run();
    EXPECT_EQ(pusher.sums.size(), 3U);
    EXPECT_EQ(pusher.partials, 0U);
}

TEST(ReductionPlan, TakesTheFlattestTreesAndAllOfThem) {
    const ReductionUnitParams unit;
    std::vector<std::uint32_t> ranks{0, 1, 2, 3, 4, 5, 6, 7};
    EXPECT_EQ(plan_reduction(one_level(8, unit), ranks).trees.size(), 3U);
    const ReductionPlan boards = plan_reduction(two_boards(8, unit), ranks);
    ASSERT_EQ(boards.trees.size(), 4U);  // each switch is the root of one
    EXPECT_EQ(boards.trees[0].nodes.size(), 2U);
    EXPECT_EQ(boards.trees[0].nodes[0].down.size(), 5U);
    const ReductionPlan tree = plan_reduction(fat_tree(8, unit), ranks);
    ASSERT_EQ(tree.trees.size(), 2U);  // one per spine
    EXPECT_EQ(tree.trees[0].nodes[0].answers, 4U);
    // Two GPUs of one leaf need no spine.
    const std::vector<std::uint32_t> near{2, 3};
    const ReductionPlan leaf = plan_reduction(fat_tree(8, unit), near);
    ASSERT_EQ(leaf.trees.size(), 1U);
    EXPECT_EQ(leaf.trees[0].nodes[0].leaves, 2U);
}

TEST(ReductionPlan, AvoidsEdgesThatAreDown) {
    const std::vector<std::uint32_t> ranks{0, 1, 2};
    Topology t = one_level(3, ReductionUnitParams{});
    t.edges[0].down = true;
    EXPECT_EQ(plan_reduction(t, ranks).trees.size(), 2U);
    for (TopologyEdge& edge : t.edges)
        edge.down = true;
    EXPECT_NE(why_no_reduction(t, ranks), "");
}

TEST(ReductionGroups, AreRefusedWithTheSwitchAndTheReason) {
    ReductionUnitParams unit;
    unit.entries = 100;
    unit.group_entries = 60;
    unit.when_full = WhenFull::kRefuse;
    unit.datatypes = {ElementType::kFloat32};
    Simulation simulation;
    Fabric fabric("fabric", one_level(2, unit), simulation.scheduler());
    Pusher first(fabric, ElementType::kFloat32);
    EXPECT_EQ(first.refused, "");
    const Pusher second(fabric, ElementType::kFloat32);
    EXPECT_EQ(second.refused, "switch0 has no reduction entries left to set aside");
    EXPECT_EQ(second.group, nullptr);
    const Pusher half(fabric, ElementType::kFloat16);
    EXPECT_EQ(half.refused, "switch0 adds no float16");
}

TEST(ReductionGroups, AWideAccumulatorSendsWidePartialSums) {
    const auto wire_up = [](Accumulation accumulation) {
        ReductionUnitParams unit;
        unit.accumulation = accumulation;
        Simulation simulation;
        Fabric fabric("fabric", two_boards(4, unit), simulation.scheduler());
        Pusher pusher(fabric, ElementType::kBfloat16);
        for (std::uint32_t m = 0; m < 4; ++m)
            pusher.push(m, 0, std::vector<float>(64, 1.0F));
        simulation.run();
        EXPECT_EQ(pusher.sums.size(), 4U);
        std::uint64_t wire = 0;
        for (const auto& link : fabric.links())
            if (std::string(link->name()).find("_to_board0") != std::string::npos &&
                std::string(link->name()).find("board1") != std::string::npos)
                wire += link->statistics().wire_bytes;
        return wire;
    };
    // 256 B of bfloat16 in two packets, or 512 B of float32 in four, and the acknowledgements of
    // the two packets of the sum that comes down.
    EXPECT_EQ(wire_up(Accumulation::kElement), 256U + 2 * 16 + 2 * 16);
    EXPECT_EQ(wire_up(Accumulation::kFloat32), 512U + 4 * 16 + 2 * 16);
}

TEST(ReductionUnitParams, EvictionNeedsATimeOut) {
    const auto text = [](const char* json) {
        try {
            (void)read_params<ReductionUnitParams>(Json::parse(json), "unit.json");
        } catch (const ConfigError& error) {
            return error.problems().front().text();
        }
        return std::string();
    };
    EXPECT_EQ(text(R"({"when_full": "evict"})"), "");
    EXPECT_EQ(text(R"({"when_full": "stall", "timeout": "0 ns"})"), "");
    EXPECT_EQ(
        text(R"({"when_full": "evict", "timeout": "0 ns"})").find("unit.json: /timeout: is 0"), 0U);
}

TEST(ReductionUnitParams, ALineIsWholeVectors) {
    try {
        (void)read_params<ReductionUnitParams>(Json::parse(R"({"line": "100 B"})"), "unit.json");
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_EQ(
            error.problems().front().text().find("unit.json: /line: is not a multiple of 16 B"),
            0U);
    }
}

TEST(ReductionUnitFailure, PullAndPushReportItInsteadOfASum) {
    struct Failed : PacketClient {
        void on_packet(const Packet& packet, std::uint32_t, Time) override {
            EXPECT_EQ(packet.count, 0U);
            EXPECT_EQ(packet.values, 0U);
            kinds.push_back(packet.kind);
        }
        std::uint32_t supply(const Packet&, std::uint32_t) override { return 0; }
        void on_departure(std::uint64_t, Time) override {}
        std::vector<PacketKind> kinds;
    };
    for (const int kind : {0, 1, 2}) {
        Simulation simulation;
        Fabric fabric("fabric", family(kind, 4, ReductionUnitParams{}), simulation.scheduler());
        Failed client;
        const std::uint32_t id = fabric.add_client(client);
        std::string refused;
        const std::vector<std::uint32_t> ranks{0, 1, 2, 3};
        const auto group = fabric.create_group(ranks, ElementType::kFloat32, refused);
        for (const auto& node : fabric.switches())
            node->fail_reductions();
        fabric.send(*group, 1, {.kind = PacketKind::kReduceRequest, .payload = 256, .client = id});
        for (std::uint32_t m = 0; m < 4; ++m)
            fabric.send(
                *group, m,
                {.kind = PacketKind::kReducePush,
                 .payload = 256,
                 .client = id,
                 .values = fabric.values().put({1.0F}),
                 .home = 2});
        simulation.run();
        EXPECT_GE(client.kinds.size(), 2U);
        EXPECT_EQ(
            std::count(client.kinds.begin(), client.kinds.end(), PacketKind::kReduceResult), 1);
        EXPECT_GT(total(fabric).timeouts, 0U);
        EXPECT_EQ(fabric.values().live(), 0U);
        expect_clean(fabric);
    }
}

TEST(ReductionGroups, AFlushedGroupLeavesNothingBehind) {
    ReductionUnitParams unit;
    unit.entries = 8;
    unit.timeout = Time(0);
    Simulation simulation;
    Fabric fabric("fabric", two_boards(4, unit), simulation.scheduler());
    Pusher pusher(fabric, ElementType::kFloat32);
    for (std::uint64_t line = 0; line < 40; ++line)
        pusher.push(0, line, std::vector<float>(256, 1.0F));
    struct Flush : EventHandler {
        void on_event(std::uint64_t) override {
            fabric->flush_group(*pusher->group);
            pusher->push(1, 3, std::vector<float>(256, 1.0F));
        }
        Fabric* fabric = nullptr;
        Pusher* pusher = nullptr;
    } flush;
    flush.fabric = &fabric;
    flush.pusher = &pusher;
    simulation.scheduler().at(microseconds(100), flush, 0);
    simulation.run();
    EXPECT_TRUE(pusher.sums.empty());
    EXPECT_EQ(fabric.values().live(), 0U);
    expect_clean(fabric);
}

}  // namespace
}  // namespace switchfold::reduction_test
