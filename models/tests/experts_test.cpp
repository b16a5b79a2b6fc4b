// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/choice.h"
#include "models/collectives/experts/group_tables.h"
#include "models/collectives/experts/low_latency.h"
#include "models/collectives/experts/routing.h"
#include "models/collectives/experts/two_sided.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::experts_test {
namespace {

CollectiveParams params() {
    CollectiveParams p = TestMachine::params();
    p.experts.copy_round = nanoseconds(800);
    p.experts.row_overhead = nanoseconds(200);
    p.experts.scale_round = nanoseconds(490);
    p.experts.scan = nanoseconds(190);
    p.experts.dispatch_start = microseconds(8);
    p.experts.combine_start = microseconds(11);
    p.experts.two_sided_row = nanoseconds(1560);
    p.experts.two_sided_rate = gigabytes_per_second(23);
    return p;
}

ExpertExchange
exchange(std::uint32_t tokens, std::uint32_t hidden, std::uint32_t top_k, std::uint32_t experts) {
    ExpertExchange e;
    e.tokens = tokens;
    e.hidden = hidden;
    e.top_k = top_k;
    e.experts = experts;
    return e;
}

CollectivePolicies policies(ExpertsLibrary library, std::uint32_t sms, std::uint32_t chunk = 0) {
    CollectivePolicies p;
    p.experts.library = library;
    p.experts.sms = sms;
    p.experts.chunk = chunk;
    return p;
}

struct Done {
    double us = 0;
    std::uint64_t out_of_gpu0 = 0;  ///< payload bytes on its outgoing links
    std::string note;
};

std::uint64_t payload_out_of(TestMachine& machine, std::uint32_t rank) {
    std::uint64_t bytes = 0;
    const std::string begin = "gpu" + std::to_string(rank) + "_to_";
    for (const auto& link : machine.fabric.links())
        if (std::string_view(link->name()).find(begin) != std::string_view::npos)
            bytes += link->statistics().payload_bytes;
    return bytes;
}

Done run(
    CollectiveKind kind, const ExpertExchange& e, std::uint32_t ranks,
    const CollectivePolicies& how, bool functional, const CollectiveParams& p = params()) {
    TestMachine machine(TestMachine::hgx(ranks).build(), p, how, functional ? 1 : 0);
    machine.engine->set_experts({e}, 132);
    CollectiveOperation operation;
    operation.kind = kind;
    operation.bytes = Bytes(
        std::max<std::uint64_t>(1, Routing(e, ranks).busiest()) *
        token_bytes(e.payload, e.hidden).all());
    const CollectiveRecord record = machine.run(operation);
    EXPECT_EQ(machine.ended, ranks);
    EXPECT_EQ(machine.engine->records().size(), 1U);
    for (const std::string& wrong : machine.engine->wrong_results())
        ADD_FAILURE() << wrong;
    EXPECT_EQ(machine.fabric.values().live(), 0U);
    EXPECT_TRUE(machine.engine->blocked().empty());
    return {
        to_microseconds(record.end - record.ready), payload_out_of(machine, 0),
        machine.engine->notes().empty() ? "" : machine.engine->notes().front()};
}

constexpr auto kDispatch = CollectiveKind::kMoeDispatch;
constexpr auto kCombine = CollectiveKind::kMoeCombine;

class DeepepNormal : public ::testing::TestWithParam<CollectiveKind> {};

TEST_P(DeepepNormal, TakesTimeAsOneOverSms) {
    const ExpertExchange e = exchange(4096, 2048, 8, 128);
    const double four = run(GetParam(), e, 8, policies(ExpertsLibrary::kAuto, 4), false).us;
    const double eight = run(GetParam(), e, 8, policies(ExpertsLibrary::kAuto, 8), false).us;
    const double twelve = run(GetParam(), e, 8, policies(ExpertsLibrary::kAuto, 12), false).us;
    EXPECT_NEAR(four / eight, 2, 0.15);
    EXPECT_NEAR(four / twelve, 3, 0.35);
}

TEST_P(DeepepNormal, IsBoundByTheLinksWithManySms) {
    const ExpertExchange e = exchange(4096, 7168, 8, 256);
    const double us = run(GetParam(), e, 8, policies(ExpertsLibrary::kAuto, 60), false).us;
    const double more = run(GetParam(), e, 8, policies(ExpertsLibrary::kAuto, 80), false).us;
    EXPECT_NEAR(us / more, 1, 0.1);
    const ExpertPayload payload =
        GetParam() == kDispatch ? ExpertPayload::kFloat8 : ExpertPayload::kBfloat16;
    const double bytes = 4096 * 5.3 * 7 / 8 * static_cast<double>(token_bytes(payload, 7168).all());
    const double rate = bytes / us * 1e-3;
    EXPECT_GT(rate, 270);
    EXPECT_LT(rate, 371);
}

TEST_P(DeepepNormal, HalvingTheTransferUnitChangesLittle) {
    const ExpertExchange e = exchange(2048, 4096, 8, 64);
    for (const std::uint32_t sms : {4U, 20U}) {
        const auto how = policies(ExpertsLibrary::kAuto, sms);
        CollectiveParams fine = params();
        fine.transfer_unit = fine.transfer_unit / 2;
        const double usual = run(GetParam(), e, 8, how, false).us;
        EXPECT_NEAR(run(GetParam(), e, 8, how, false, fine).us / usual, 1, 0.02) << sms;
    }
}

TEST_P(DeepepNormal, ATokenTakesAFewMicroseconds) {
    const double us =
        run(GetParam(), exchange(1, 2048, 8, 128), 8, policies(ExpertsLibrary::kAuto, 20), false)
            .us;
    EXPECT_GT(us, GetParam() == kDispatch ? 12 : 15);
    EXPECT_LT(us, 40);
}

INSTANTIATE_TEST_SUITE_P(Both, DeepepNormal, ::testing::Values(kDispatch, kCombine));

TEST(DeepepNormalBytes, CrossTheLinksOnce) {
    const ExpertExchange e = exchange(300, 1024, 4, 32);
    const Routing routing(e, 8);
    const std::uint64_t away = routing.sent(0) - routing.tokens_to(0, 0).size();
    const Done done = run(kDispatch, e, 8, policies(ExpertsLibrary::kDeepepNormal, 8), false);
    EXPECT_EQ(done.out_of_gpu0, away * token_bytes(e.payload, e.hidden).all());
}

TEST(LowLatency, SharesExpertsOutOverSms) {
    // DeepEP internode_ll.cu: 256 experts on 132 SMs give 128 blocks of two warp groups each.
    EXPECT_EQ(low_latency_shape(256, 132).blocks, 128U);
    EXPECT_EQ(low_latency_shape(256, 132).warps_of_group, 16U);
    EXPECT_EQ(low_latency_shape(160, 132).blocks, 80U);
    EXPECT_EQ(low_latency_shape(384, 132).blocks, 128U);
    EXPECT_EQ(low_latency_shape(384, 132).warps_of_group, 10U);
    EXPECT_EQ(low_latency_shape(8, 132).blocks, 8U);
}

TEST(LowLatency, SendsACopyForEachExpert) {
    const ExpertExchange e = exchange(64, 1024, 8, 16);
    std::uint64_t away = 0;
    for (const std::uint32_t expert : choose_experts_of(e, 8, 0))
        away += expert / 2 != 0 ? 1 : 0;
    const Done done = run(kDispatch, e, 8, policies(ExpertsLibrary::kDeepepLowLatency, 0), false);
    EXPECT_EQ(done.out_of_gpu0, away * (token_bytes(e.payload, e.hidden).all() + 16));
}

TEST(LowLatency, IsSoonerWithFewTokens) {
    const ExpertExchange e = exchange(16, 7168, 8, 256);
    for (const auto kind : {kDispatch, kCombine})
        EXPECT_LT(
            run(kind, e, 8, policies(ExpertsLibrary::kDeepepLowLatency, 0), false).us,
            0.7 * run(kind, e, 8, policies(ExpertsLibrary::kDeepepNormal, 20), false).us);
}

TEST(TwoSided, HasFewerChannelsForMoreRanks) {
    EXPECT_EQ(two_sided_blocks(152), 76U);
    EXPECT_EQ(two_sided_channels(76, 2), 38U);
    EXPECT_EQ(two_sided_channels(76, 8), 38U);
    EXPECT_EQ(two_sided_channels(76, 16), 19U);
}

TEST(TwoSided, LinesTakeAFifteenthMore) {
    ExpertExchange e = exchange(300, 1920, 4, 32);
    e.payload = ExpertPayload::kBfloat16;
    const Routing routing(e, 8);
    const std::uint64_t away = routing.sent(0) - routing.tokens_to(0, 0).size();
    const Done done = run(kDispatch, e, 8, policies(ExpertsLibrary::kTrtllmTwoSided, 0), false);
    EXPECT_EQ(done.out_of_gpu0, away * 2 * 1920 * 16 / 15);
}

TEST(SwitchExperts, TablesHoldThePopularSets) {
    const GroupTables tables{Routing(exchange(2000, 128, 2, 8), 8)};
    // A set is the sender and two destination ranks: all sets of three ranks and none of two.
    EXPECT_EQ(tables.sets().size(), 56U);
    for (std::size_t i = 1; i < tables.sets().size(); ++i)
        EXPECT_GE(tables.sets()[i - 1].tokens, tables.sets()[i].tokens);
}

TEST(SwitchExperts, ADispatchLeavesTheSenderOnce) {
    const ExpertExchange e = exchange(256, 1024, 8, 64);
    const Done with = run(kDispatch, e, 8, policies(ExpertsLibrary::kInSwitch, 20), false);
    const Done without = run(kDispatch, e, 8, policies(ExpertsLibrary::kDeepepNormal, 20), false);
    EXPECT_LT(with.out_of_gpu0, 0.4 * static_cast<double>(without.out_of_gpu0));
    EXPECT_LT(with.us, without.us);
}

TEST(SwitchExperts, WithoutTablesACopyGoesToEachDestination) {
    const ExpertExchange e = exchange(256, 1024, 8, 64);
    CollectivePolicies few = policies(ExpertsLibrary::kInSwitch, 20);
    few.experts.group_tables = 1;
    const Done one = run(kDispatch, e, 8, few, false);
    few.experts.group_tables = 40;
    const Done forty = run(kDispatch, e, 8, few, false);
    EXPECT_NE(one.note.find("groups for 1 of them (as the policy says)"), std::string::npos)
        << one.note;
    EXPECT_GT(one.out_of_gpu0, forty.out_of_gpu0);
    EXPECT_GT(one.us, forty.us);
}

TEST(SwitchExperts, ThousandsOfSetsFillTheSwitches) {
    SwitchedTopology wide = TestMachine::hgx(24);
    wide.lanes_to_switch = {18};
    wide.node.reduction->max_groups = 64;
    TestMachine machine(wide.build(), params(), policies(ExpertsLibrary::kInSwitch, 20), 1);
    const ExpertExchange e = exchange(64, 256, 8, 96);
    machine.engine->set_experts({e}, 132);
    CollectiveOperation operation;
    operation.kind = kDispatch;
    operation.bytes = Bytes(1);
    static_cast<void>(machine.run(operation));
    EXPECT_EQ(machine.ended, 24U);
    EXPECT_TRUE(machine.engine->wrong_results().empty());
    ASSERT_EQ(machine.engine->notes().size(), 1U);
    const std::string& note = machine.engine->notes().front();
    EXPECT_NE(note.find("groups for 64 of them (switch"), std::string::npos) << note;
}

/// Random, often unusual shapes with every library: every token reaches its destinations, every sum
/// is right to the last bit, and nothing hangs.
RC_GTEST_PROP(ExpertsProperty, EveryTokenArrivesAndEverySumIsRight, ()) {
    const auto ranks = *rc::gen::inRange<std::uint32_t>(2, 9);
    const auto each = *rc::gen::inRange<std::uint32_t>(1, 9);
    ExpertExchange e = exchange(
        *rc::gen::inRange<std::uint32_t>(1, 200), 128 * *rc::gen::inRange<std::uint32_t>(1, 12),
        *rc::gen::inRange<std::uint32_t>(1, std::min(9U, ranks * each + 1)), ranks * each);
    e.payload =
        *rc::gen::element(ExpertPayload::kFloat8, ExpertPayload::kBfloat16, ExpertPayload::kNvfp4);
    e.routing =
        *rc::gen::element(ExpertRouting::kRandom, ExpertRouting::kBalanced, ExpertRouting::kSkewed);
    e.skew = 2;
    e.seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto sms = 2 * *rc::gen::inRange<std::uint32_t>(1, 20);
    const auto chunk = *rc::gen::inRange<std::uint32_t>(0, 33);
    CollectiveParams p = params();
    p.experts.ring_tokens = *rc::gen::inRange<std::uint32_t>(64, 300);
    p.experts.fifo_slot = kibibytes(*rc::gen::inRange<std::uint64_t>(1, 64));
    const auto kind = *rc::gen::element(kDispatch, kCombine);
    CollectivePolicies how = policies(
        *rc::gen::element(
            ExpertsLibrary::kDeepepNormal, ExpertsLibrary::kDeepepLowLatency,
            ExpertsLibrary::kTrtllmTwoSided, ExpertsLibrary::kInSwitch, ExpertsLibrary::kNccl),
        sms, chunk);
    how.experts.group_tables = *rc::gen::inRange<std::uint32_t>(0, 60);
    RC_ASSERT(run(kind, e, ranks, how, true, p).us > 0);
}

/// The same for rows that differ from pair to pair: ranks without tokens, ranks to which nobody
/// sends, and pairs that exchange nothing.
RC_GTEST_PROP(ExpertsProperty, UnevenSplitsArriveByEveryLibrary, ()) {
    const auto ranks = *rc::gen::inRange<std::uint32_t>(2, 17);
    const auto each = *rc::gen::inRange<std::uint32_t>(1, 5);
    ExpertExchange e = exchange(
        0, 128 * *rc::gen::inRange<std::uint32_t>(1, 6),
        *rc::gen::inRange<std::uint32_t>(1, std::min(9U, ranks * each + 1)), ranks * each);
    e.payload =
        *rc::gen::element(ExpertPayload::kFloat8, ExpertPayload::kBfloat16, ExpertPayload::kNvfp4);
    e.seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto silent = *rc::gen::inRange<std::uint32_t>(0, ranks);
    const auto forgotten = *rc::gen::inRange<std::uint32_t>(0, ranks);
    for (std::uint32_t pair = 0; pair < ranks * ranks; ++pair)
        e.splits.push_back(
            pair / ranks == silent || pair % ranks == forgotten
                ? 0
                : *rc::gen::element(0U, 1U, 3U, 20U, 90U));
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        e.tokens = std::max(e.tokens, token_counts(e, ranks, rank).tokens);
    RC_PRE(e.tokens > 0U);
    const auto kind = *rc::gen::element(kDispatch, kCombine);
    for (const ExpertsLibrary library :
         {ExpertsLibrary::kDeepepNormal, ExpertsLibrary::kDeepepLowLatency,
          ExpertsLibrary::kTrtllmTwoSided, ExpertsLibrary::kInSwitch, ExpertsLibrary::kNccl})
        RC_ASSERT(
            run(kind, e, ranks, policies(library, 2 * *rc::gen::inRange(1U, 12U)), true).us > 0);
}

/// Sends and receives are those of the all-to-all with the rows' bytes.
TEST(NcclExperts, TakeTheTimeOfTheUnevenExchange) {
    ExpertExchange e = exchange(0, 1024, 4, 32);
    for (std::uint32_t pair = 0; pair < 64; ++pair)
        e.splits.push_back(pair * 37 % 101 * 4);
    for (std::uint32_t rank = 0; rank < 8; ++rank)
        e.tokens = std::max(e.tokens, token_counts(e, 8, rank).tokens);
    UnevenExchange parts = UnevenExchange::of(8);
    for (std::uint32_t pair = 0; pair < 64; ++pair)
        parts.bytes[pair] = e.splits[pair] * token_bytes(e.payload, e.hidden).all();
    TestMachine machine(TestMachine::hgx(8).build(), params(), ring_policy());
    machine.engine->set_exchanges({parts});
    CollectiveOperation operation;
    operation.kind = CollectiveKind::kAllToAll;
    operation.exchange = 1;
    const CollectiveRecord record = machine.run(operation);
    const Done done = run(kDispatch, e, 8, policies(ExpertsLibrary::kNccl, 0), false);
    EXPECT_DOUBLE_EQ(done.us, to_microseconds(record.end - record.ready));
    std::uint64_t away = 0;
    for (std::uint32_t to = 1; to < 8; ++to)
        away += parts.at(0, to);
    EXPECT_GE(done.out_of_gpu0, away);
}

TEST(ExpertsConfig, RefusesWhatCannotRun) {
    const ExpertsParams p = params().experts;
    const ExpertExchange e = exchange(128, 1024, 8, 64);
    const auto refusal = [&](const ExpertsPolicy& policy, ExpertsMachine machine) {
        return why_no_experts(p, policy, e, machine);
    };
    constexpr Bytes kShared = kibibytes(227);
    ExpertsPolicy policy;
    policy.sms = 20;
    EXPECT_NE(
        refusal(policy, {8, 1, 132, kibibytes(64), true}).why.find("shared memory"),
        std::string::npos);
    EXPECT_TRUE(refusal(policy, {8, 1, 132, kShared, true}).why.empty());
    policy.sms = 140;
    EXPECT_EQ(refusal(policy, {8, 1, 132, kShared, true}).field, "sms");
    policy.sms = 20;
    policy.chunk = 128;
    EXPECT_TRUE(refusal(policy, {8, 1, 132, kShared, true}).why.empty());
    EXPECT_NE(
        refusal(policy, {16, 2, 132, kShared, true}).why.find("2 machines"), std::string::npos);
    EXPECT_NE(
        refusal(policy, {36, 1, 132, kShared, true}).why.find("no warp for each"),
        std::string::npos);
    ExpertsParams silent = p;
    silent.copy_round = Time();
    policy.library = ExpertsLibrary::kDeepepLowLatency;
    policy.chunk = 0;
    policy.sms = 1;
    EXPECT_EQ(refusal(policy, {8, 1, 132, kShared, true}).field, "sms");
    policy.sms = 0;
    EXPECT_TRUE(refusal(policy, {8, 1, 132, kShared, true}).why.empty());
    policy.library = ExpertsLibrary::kInSwitch;
    EXPECT_TRUE(refusal(policy, {8, 1, 132, kShared, true}).why.empty());
    EXPECT_NE(refusal(policy, {8, 1, 132, kShared, false}).why.find("switches"), std::string::npos);
    policy.library = ExpertsLibrary::kTrtllmTwoSided;
    EXPECT_TRUE(refusal(policy, {8, 1, 132, kShared, false}).why.empty());
    policy.library = ExpertsLibrary::kDeepepNormal;
    EXPECT_NE(
        why_no_experts(silent, policy, e, {8, 1, 132, kShared, true}).why.find("copy_round"),
        std::string::npos);
    ExpertsParams small = p;
    small.ring_tokens = 100;
    policy.chunk = 60;
    EXPECT_EQ(why_no_experts(small, policy, e, {8, 1, 132, kShared, true}).field, "chunk");
}

TEST(ExpertsConfig, HalvesOfSmsAreEven) {
    ExpertsPolicy policy;
    policy.sms = 21;
    ParamChecker checker;
    policy.check(checker);
    ASSERT_EQ(checker.found().size(), 1U);
    EXPECT_EQ(checker.found()[0].first, "/sms");
}

}  // namespace
}  // namespace switchfold::experts_test
