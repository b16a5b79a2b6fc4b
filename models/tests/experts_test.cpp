// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/choice.h"
#include "models/collectives/experts/routing.h"
#include "models/tests/test_machine.h"

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace switchfold {
namespace {

CollectiveParams params() {
    CollectiveParams p = TestMachine::params();
    p.experts.copy_round = nanoseconds(800);
    p.experts.row_overhead = nanoseconds(200);
    p.experts.scale_round = nanoseconds(490);
    p.experts.scan = nanoseconds(190);
    p.experts.dispatch_start = microseconds(8);
    p.experts.combine_start = microseconds(11);
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
    std::uint64_t into_gpu0 = 0;  ///< bytes of payload that came over its links
};

Done run(
    CollectiveKind kind,
    const ExpertExchange& e,
    std::uint32_t ranks,
    const CollectivePolicies& how,
    bool functional,
    bool exact = true,
    const CollectiveParams& p = params()) {
    TestMachine machine(TestMachine::hgx(ranks).build(), p, how, functional ? 1 : 0);
    machine.engine->set_experts({e});
    TrafficCounts counts;
    if (!exact)
        machine.engine->allow_jumps(counts);
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
    return {to_microseconds(record.end - record.ready), machine.ports[0]->bytes_read};
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

TEST_P(DeepepNormal, CoarserChunksTakeTheSameTime) {
    for (const std::uint32_t sms : {4U, 20U}) {
        const ExpertExchange e = exchange(16'384, 1024, 8, 64);
        const auto how = policies(ExpertsLibrary::kAuto, sms, 8);
        const double fine = run(GetParam(), e, 8, how, false, true).us;
        const double coarse = run(GetParam(), e, 8, how, false, false).us;
        EXPECT_NEAR(coarse / fine, 1, 0.03) << sms;
    }
}

TEST_P(DeepepNormal, ATokenTakesAFewMicroseconds) {
    const double us =
        run(GetParam(), exchange(1, 2048, 8, 128), 8, policies(ExpertsLibrary::kAuto, 20), false)
            .us;
    EXPECT_GT(us, GetParam() == kDispatch ? 12 : 15);
    EXPECT_LT(us, 40);
}

INSTANTIATE_TEST_SUITE_P(
    Both, DeepepNormal, ::testing::Values(kDispatch, kCombine), [](const auto& info) {
        return std::string(to_string(info.param));
    });

/// Shapes that nobody would choose, all libraries: every token arrives where it must, every sum is
/// right to the last bit, nothing hangs.
RC_GTEST_PROP(ExpertsProperty, EveryTokenArrivesAndEverySumIsRight, ()) {
    const auto ranks = *rc::gen::inRange<std::uint32_t>(2, 9);
    const auto each = *rc::gen::inRange<std::uint32_t>(1, 9);
    ExpertExchange e = exchange(
        *rc::gen::inRange<std::uint32_t>(1, 200),
        128 * *rc::gen::inRange<std::uint32_t>(1, 12),
        *rc::gen::inRange<std::uint32_t>(1, std::min(9U, ranks * each + 1)),
        ranks * each);
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
    const auto kind = *rc::gen::element(kDispatch, kCombine);
    RC_ASSERT(run(kind, e, ranks, policies(ExpertsLibrary::kAuto, sms, chunk), true, true, p).us > 0);
}

TEST(ExpertsChoice, RefusesWhatCannotRun) {
    const ExpertsParams p = params().experts;
    const ExpertExchange e = exchange(128, 1024, 8, 64);
    const auto refusal = [&](const ExpertsPolicy& policy, ExpertsMachine machine) {
        return why_no_experts(p, policy, e, machine);
    };
    ExpertsPolicy policy;
    policy.sms = 20;
    EXPECT_TRUE(refusal(policy, {8, 1, 132, true}).why.empty());
    policy.sms = 140;
    EXPECT_EQ(refusal(policy, {8, 1, 132, true}).pointer, "/sms");
    policy.sms = 20;
    policy.chunk = 128;
    EXPECT_TRUE(refusal(policy, {8, 1, 132, true}).why.empty());
    EXPECT_NE(refusal(policy, {16, 2, 132, true}).why.find("2 machines"), std::string::npos);
    EXPECT_NE(refusal(policy, {36, 1, 132, true}).why.find("no warp for each"), std::string::npos);
    ExpertsParams silent = p;
    silent.copy_round = Time();
    EXPECT_NE(
        why_no_experts(silent, policy, e, {8, 1, 132, true}).why.find("copy_round"),
        std::string::npos);
    ExpertsParams small = p;
    small.ring_tokens = 100;
    EXPECT_EQ(why_no_experts(small, policy, e, {8, 1, 132, true}).pointer, "/chunk");
}

TEST(ExpertsChoice, HalvesOfSmsAreEven) {
    ExpertsPolicy policy;
    policy.sms = 21;
    ParamChecker checker;
    policy.check(checker);
    ASSERT_EQ(checker.found().size(), 1U);
    EXPECT_EQ(checker.found()[0].first, "/sms");
}

}  // namespace
}  // namespace switchfold
