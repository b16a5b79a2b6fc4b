// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/member_gpus.h"

#include "training/elastic/failures.h"
#include "training/elastic/host_costs.h"
#include "training/elastic/state_moves.h"
#include "training/plan/step/parallel_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

namespace switchfold::elastic::member_gpus_test {
namespace {

ParallelPlan plan_of(
    std::uint32_t data, std::uint32_t context, std::uint32_t tensor, std::uint32_t pipeline,
    std::uint32_t expert = 1) {
    ParallelPlan plan;
    plan.data = data;
    plan.context = context;
    plan.tensor = tensor;
    plan.pipeline = pipeline;
    plan.expert = expert;
    return plan;
}

Members upto(std::uint32_t count) {
    Members members(count);
    std::iota(members.begin(), members.end(), 0U);
    return members;
}

Time seconds(std::uint64_t value) {
    return Time(1'000'000'000'000) * value;
}

TEST(MemberGpus, FirstMembersStandOnThePlansRanksAndLaterOnesOnFreeGpus) {
    const ParallelPlan plan = plan_of(4, 2, 2, 2, 2);
    const MemberGpus gpus(plan, 64);
    EXPECT_EQ(gpus.each(), 16U);
    EXPECT_EQ(gpus.first(), 2U);
    EXPECT_EQ(gpus.room(), 4U);
    EXPECT_EQ(gpus.by_rank(upto(2)), upto(32));
    std::set<std::uint32_t> all;
    for (std::uint32_t member = 0; member < gpus.room(); ++member)
        for (const std::uint32_t gpu : gpus.of(member)) {
            EXPECT_EQ(gpus.member_of(gpu), member);
            EXPECT_TRUE(all.insert(gpu).second);
            if (gpu < 32) {
                EXPECT_EQ(gpu / 4 % 4 / 2, member);
            }
        }
    EXPECT_EQ(all.size(), 64U);
}

TEST(MemberGpus, RanksOfMoreMembersKeepTheGpusOfThoseBefore) {
    const MemberGpus gpus(plan_of(2, 1, 2, 2), 16);
    const std::vector<std::uint32_t> three = gpus.by_rank({0, 1, 3});
    // Tensor varies fastest, then the replica, then the device.
    EXPECT_EQ(three, (std::vector<std::uint32_t>{0, 1, 2, 3, 12, 13, 4, 5, 6, 7, 14, 15}));
    for (std::uint32_t rank = 0; rank < 12; ++rank)
        EXPECT_EQ(gpus.member_of(three[rank]), (Members{0, 1, 3}[gpus.index_of_replica(rank, 3)]));
}

TEST(MemberGpus, OneGpuThatDiesTakesItsMemberWithItAndPlannedChangesNameWholeOnes) {
    const MemberGpus gpus(plan_of(2, 1, 2, 1), 8);
    Change dies;
    dies.at.time = seconds(1);
    dies.method = Method::kRestart;
    dies.remove.ranks = {3};
    dies.died = true;
    ChangeProblems problems;
    EXPECT_EQ(follow_changes({0, 1}, {dies}, gpus, problems)[0].removed, (Members{1}));
    EXPECT_TRUE(problems.empty());
    dies.died = false;
    Change grows;
    grows.at.time = seconds(2);
    grows.add.count = 3;
    static_cast<void>(follow_changes({0, 1}, {dies, grows}, gpus, problems));
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems[0].first, "/0/remove");
    EXPECT_NE(problems[0].second.find("GPUs 2, 3; expected all"), std::string::npos);
    EXPECT_EQ(problems[1].first, "/1/add");
    EXPECT_NE(problems[1].second.find("multiple"), std::string::npos);
}

TEST(MemberGpus, FailuresTakeMembersAndSparesReplaceThem) {
    const MemberGpus gpus(plan_of(2, 1, 2, 1), 8);
    const std::vector<Change> changes = with_failures(
        {0, 1}, {}, {{seconds(5), 3}}, {Method::kRestart, Method::kRestart, seconds(100), 1}, gpus,
        seconds(50));
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].add.ranks, (std::vector<std::uint32_t>{4, 5}));
    ChangeProblems problems;
    EXPECT_EQ(follow_changes({0, 1}, changes, gpus, problems)[0].members, (Members{0, 2}));
    EXPECT_TRUE(problems.empty());
}

/// Bytes that arrive at each GPU.
std::map<std::uint32_t, std::uint64_t> arrive(const std::vector<StatePiece>& pieces) {
    std::map<std::uint32_t, std::uint64_t> bytes;
    for (const StatePiece& piece : pieces)
        bytes[piece.to] += piece.bytes.count();
    return bytes;
}

TEST(DividedAnew, EveryoneGetsWhatItsNewPartLacks) {
    EXPECT_TRUE(divided_anew({0, 1, 2}, {0, 1, 2}, Bytes(300)).empty());
    // Halves become thirds: GPU 0 keeps its first third, GPU 1 gets a sixth and keeps a sixth.
    EXPECT_EQ(
        divided_anew({0, 1}, {0, 1, 2}, Bytes(600)),
        (std::vector<StatePiece>{{0, 1, Bytes(100)}, {1, 2, Bytes(200)}}));
    for (std::uint32_t before = 1; before < 9; ++before)
        for (std::uint32_t after = 1; after < 9; ++after) {
            Members others;
            for (std::uint32_t i = 0; i < after; ++i)
                others.push_back(100 + i);
            std::uint64_t sum = 0;
            for (const auto& [gpu, bytes] : arrive(divided_anew(upto(before), others, Bytes(1009))))
                sum += bytes;
            EXPECT_EQ(sum, 1009U) << before << " " << after;
            for (const auto& [gpu, bytes] :
                 arrive(divided_anew(upto(before), upto(after), Bytes(1009))))
                EXPECT_LE(bytes, 1009 / after + 1) << before << " " << after;
        }
}

TEST(StateMoves, EachGpuOfAJoinerGetsWhatItsStageNeeds) {
    const MemberGpus gpus(plan_of(2, 1, 2, 2), 16);
    const std::vector<DeviceState> devices{
        {Bytes(10), Bytes(40), Bytes()}, {Bytes(20), Bytes(80), Bytes()}};
    const StateMoves moves(gpus, devices);
    ExecutionGraph graph = moves_alone();
    moves.add_each(graph, {0, 1}, {2}, Transfer::kTree);
    check(graph);
    std::map<std::uint32_t, std::uint64_t> got;
    for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank)
        for (const Operation& operation : graph.ranks[rank]->operations)
            if (const auto* receive = std::get_if<ReceiveOperation>(&operation.body))
                got[rank] += receive->bytes.count();
    EXPECT_EQ(got, (std::map<std::uint32_t, std::uint64_t>{{8, 40}, {9, 40}, {10, 80}, {11, 80}}));
}

TEST(HeldState, IsWrittenOnceAndReadByPart) {
    const HeldState state(Bytes(1000), Bytes(800), 2);
    std::uint64_t sum = 0;
    for (const Writers writers : {Writers::kOne, Writers::kEveryRank}) {
        sum = 0;
        for (const Bytes part : parts_written(writers, state, 8))
            sum += part.count();
        EXPECT_EQ(sum, 1800U);
    }
    EXPECT_EQ(parts_written(Writers::kOne, state, 8)[1].count(), 600U);
    EXPECT_EQ(parts_written(Writers::kOne, state, 8)[2].count(), 100U);
    // A storage of 1 byte a picosecond: ranks read 500 + 100 bytes each, a machine of four ranks
    // 1,000 + 400.
    HostCosts costs;
    costs.storage_read = Bandwidth(1'000'000'000'000);
    costs.client = costs.storage_read;
    const Placement placement = even_placement(8, 2, 1);
    const auto last = [&](Readers readers) {
        costs.readers = readers;
        return last_of(read_ends(costs, state, placement, std::vector<Time>(8))).count();
    };
    EXPECT_NEAR(static_cast<double>(last(Readers::kEveryRank)), 4800, 16);
    EXPECT_NEAR(static_cast<double>(last(Readers::kEveryMachine)), 2800, 16);
}

}  // namespace
}  // namespace switchfold::elastic::member_gpus_test
