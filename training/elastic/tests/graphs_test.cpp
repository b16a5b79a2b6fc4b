// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/place_ranks.h"
#include "training/elastic/state_transfer.h"
#include "training/network/table.h"
#include "training/plan/step/plan_step.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <map>

namespace switchfold::elastic::graphs_test {
namespace {

constexpr const char* kTable = "idx,layer,type,params,fwd_macs_per_sample,out_elems_per_sample\n"
                               "0,conv1,conv,1000000,50000000,100000\n"
                               "1,fc,linear,8000000,8000000,1000\n";

ExecutionGraph step(std::uint32_t ranks) {
    ParallelPlan plan;
    plan.data = ranks;
    plan.micro_batch = 32;
    return plan_step({parse_network_table(kTable, "t"), KernelTimes(test_data::ampere()), plan});
}

TEST(Placed, RanksAndGroupsLieOnTheMembers) {
    const ExecutionGraph graph = step(3);
    const ExecutionGraph there = placed(graph, {1, 4, 6});
    check(there);
    ASSERT_EQ(there.ranks.size(), 7U);
    EXPECT_EQ(there.ranks[4], graph.ranks[1]);
    EXPECT_TRUE(there.ranks[0]->operations.empty());
    EXPECT_EQ(there.groups[0].ranks, (Members{1, 4, 6}));
    EXPECT_EQ(ranks_at_work(there), 3U);
}

TEST(Joined, TakesRanksOfBothAndKeepsNames) {
    ExecutionGraph more = step(4);
    ExecutionGraph less = step(4);
    less.names[0] = "smaller";
    const ExecutionGraph both = joined(more, less, {true, false, true, false});
    check(both);
    const auto name_of = [&](std::size_t rank) {
        return both.names[both.ranks[rank]->operations[0].name];
    };
    EXPECT_EQ(name_of(0), more.names[more.ranks[0]->operations[0].name]);
    EXPECT_EQ(name_of(3), less.names[less.ranks[3]->operations[0].name]);
}

/// Bytes that each rank receives from others. A broadcast delivers all of its bytes to every rank.
std::map<std::uint32_t, std::uint64_t> received(const ExecutionGraph& graph) {
    std::map<std::uint32_t, std::uint64_t> bytes;
    for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank)
        for (const Operation& operation : graph.ranks[rank]->operations)
            if (const auto* receive = std::get_if<ReceiveOperation>(&operation.body))
                bytes[rank] += receive->bytes.count();
            else if (const auto* part = std::get_if<CollectiveOperation>(&operation.body))
                bytes[rank] += part->bytes.count();
    return bytes;
}

TEST(Transfer, EveryJoinerGetsTheWholeStateOnce) {
    for (const Transfer transfer :
         {Transfer::kRing, Transfer::kTree, Transfer::kScatter, Transfer::kInSwitch})
        for (std::uint32_t joiners = 1; joiners < 10; ++joiners) {
            Members added;
            for (std::uint32_t i = 0; i < joiners; ++i)
                added.push_back(3 + i);
            const ExecutionGraph graph =
                transfer_alone({0, 1, 2}, added, transfer, Bytes(1'000'001));
            check(graph);
            const auto bytes = received(graph);
            for (const std::uint32_t joiner : added)
                EXPECT_EQ(bytes.at(joiner), 1'000'001U);
            EXPECT_EQ(graph.ranks[0]->operations.empty(), false);
        }
}

TEST(Transfer, UpdatesOfSourceAndJoinersWaitAndOthersDoNot) {
    ExecutionGraph graph = placed(step(4), {0, 1, 2, 3});
    contribute_zero(graph, {3});
    add_transfer(graph, {0, 1, 2}, {3}, Transfer::kRing, Bytes(1'000'000));
    check(graph);
    const auto waits = [&](std::uint32_t rank) {
        bool all = true;
        bool any = false;
        for (const Operation& operation : graph.ranks[rank]->operations)
            if (operation.phase == Phase::kOptimizer) {
                bool found = false;
                for (const std::uint32_t on : operation.dependencies)
                    found = found || on == 0;
                all = all && found;
                any = any || found;
            }
        EXPECT_EQ(all, any);
        return any;
    };
    EXPECT_TRUE(waits(0));
    EXPECT_FALSE(waits(1));
    EXPECT_TRUE(waits(3));
    for (const Operation& operation : graph.ranks[3]->operations)
        EXPECT_TRUE(
            operation.phase == Phase::kOptimizer ||
            !std::holds_alternative<KernelOperation>(operation.body));
}

}  // namespace
}  // namespace switchfold::elastic::graphs_test
