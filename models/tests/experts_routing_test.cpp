// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/ring_buffers.h"
#include "models/collectives/experts/routing.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace switchfold::experts_routing_test {
namespace {

ExpertExchange exchange(
    std::uint32_t tokens, std::uint32_t top_k, std::uint32_t experts,
    ExpertRouting routing = ExpertRouting::kRandom) {
    ExpertExchange e;
    e.tokens = tokens;
    e.hidden = 128;
    e.top_k = top_k;
    e.experts = experts;
    e.routing = routing;
    return e;
}

double copies_of_a_token(const ExpertExchange& e, std::uint32_t ranks) {
    const Routing routing(e, ranks);
    double copies = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        copies += static_cast<double>(routing.sent(rank));
    return copies / ranks / e.tokens;
}

TEST(Routing, SendsATokenOnceToEachDistinctRank) {
    // 8 of 256 experts over 8 ranks: 8 (1 - C(224, 8) / C(256, 8)) ranks per token.
    EXPECT_NEAR(copies_of_a_token(exchange(4096, 8, 256), 8), 5.30, 0.03);
    // One expert per rank: a token goes to as many ranks as experts.
    EXPECT_DOUBLE_EQ(copies_of_a_token(exchange(512, 2, 8), 8), 2.0);
    EXPECT_DOUBLE_EQ(copies_of_a_token(exchange(512, 8, 8), 8), 8.0);
}

TEST(Routing, BalancedGoesToNeighboursInTurn) {
    const Routing routing(exchange(6, 8, 256, ExpertRouting::kBalanced), 16);
    for (std::uint32_t token = 0; token < 6; ++token) {
        const auto to = routing.destinations(3, token);
        ASSERT_EQ(to.size(), 8U);
        EXPECT_EQ(to.front(), token % 2 * 8);
        EXPECT_EQ(to.back(), token % 2 * 8 + 7);
    }
    // With fewer ranks than experts per token, a token goes to all ranks.
    EXPECT_DOUBLE_EQ(copies_of_a_token(exchange(64, 8, 256, ExpertRouting::kBalanced), 4), 4.0);
    EXPECT_EQ(Routing(exchange(64, 8, 64, ExpertRouting::kBalanced), 8).busiest(), 64U * 8);
}

TEST(Routing, SkewCrowdsTheFirstRank) {
    ExpertExchange e = exchange(2048, 4, 64, ExpertRouting::kSkewed);
    e.skew = 0;
    const double even = static_cast<double>(Routing(e, 8).busiest());
    e.skew = 1.5;
    const Routing routing(e, 8);
    EXPECT_GT(static_cast<double>(routing.received(0)), 1.4 * even);
    EXPECT_LT(static_cast<double>(routing.received(7)), 0.7 * even);
}

TEST(Routing, IsTheSameForTheSameSeed) {
    ExpertExchange e = exchange(100, 4, 32);
    const auto first = choose_experts_of(e, 4, 2);
    EXPECT_EQ(choose_experts_of(e, 4, 2), first);
    EXPECT_NE(choose_experts_of(e, 4, 1), first);
    e.seed = 2;
    EXPECT_NE(choose_experts_of(e, 4, 2), first);
}

RC_GTEST_PROP(RoutingProperty, ChoosesDistinctExpertsAndLosesNoToken, ()) {
    const auto ranks = *rc::gen::inRange<std::uint32_t>(1, 20);
    const auto each = *rc::gen::inRange<std::uint32_t>(1, 9);
    ExpertExchange e = exchange(
        *rc::gen::inRange<std::uint32_t>(1, 60),
        *rc::gen::inRange<std::uint32_t>(1, std::min(16U, ranks * each) + 1), ranks * each,
        *rc::gen::element(
            ExpertRouting::kRandom, ExpertRouting::kBalanced, ExpertRouting::kSkewed));
    e.skew = *rc::gen::inRange(0, 30) * 0.1;
    e.seed = *rc::gen::arbitrary<std::uint64_t>();
    const Routing routing(e, ranks);
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (std::uint32_t from = 0; from < ranks; ++from) {
        const auto experts = choose_experts_of(e, ranks, from);
        RC_ASSERT(experts.size() == std::size_t{e.tokens} * e.top_k);
        for (std::uint32_t token = 0; token < e.tokens; ++token) {
            const auto at = experts.begin() + static_cast<std::ptrdiff_t>(token) * e.top_k;
            const std::set<std::uint32_t> distinct(at, at + e.top_k);
            RC_ASSERT(distinct.size() == e.top_k);
            RC_ASSERT(*distinct.rbegin() < e.experts);
            std::set<std::uint32_t> to;
            for (const std::uint32_t expert : distinct)
                to.insert(expert / each);
            const auto destinations = routing.destinations(from, token);
            RC_ASSERT(std::equal(destinations.begin(), destinations.end(), to.begin(), to.end()));
            for (const std::uint32_t rank : to) {
                const auto tokens = routing.tokens_to(from, rank);
                RC_ASSERT(std::binary_search(tokens.begin(), tokens.end(), token));
            }
        }
        sent += routing.sent(from);
        received += routing.received(from);
    }
    RC_ASSERT(sent == received);
}

/// Splits of a few or many rows, some of them none, for experts that are as few as can be or many.
RC_GTEST_PROP(RoutingProperty, SplitsAreKeptToTheRow, ()) {
    const auto ranks = *rc::gen::inRange<std::uint32_t>(1, 17);
    const auto each = *rc::gen::inRange<std::uint32_t>(1, 9);
    ExpertExchange e = exchange(
        0, *rc::gen::inRange<std::uint32_t>(1, std::min(16U, ranks * each) + 1), ranks * each);
    e.seed = *rc::gen::arbitrary<std::uint64_t>();
    for (std::uint32_t pair = 0; pair < ranks * ranks; ++pair)
        e.splits.push_back(*rc::gen::element(0U, 1U, 2U, 7U, 60U));
    RC_ASSERT(rows_of_ranks(e, ranks) == e.splits);
    const Routing routing(e, ranks);
    for (std::uint32_t from = 0; from < ranks; ++from) {
        const auto experts = choose_experts_of(e, ranks, from);
        const TokenCounts counts = token_counts(e, ranks, from);
        RC_ASSERT(counts.choices == experts.size());
        RC_ASSERT(routing.tokens(from) == counts.tokens);
        RC_ASSERT(counts.first(counts.tokens) == counts.choices);
        std::vector<std::uint32_t> rows(ranks);
        for (std::uint32_t token = 0; token < counts.tokens; ++token) {
            const auto first = static_cast<std::ptrdiff_t>(counts.first(token));
            const auto last = static_cast<std::ptrdiff_t>(counts.first(token + 1));
            const std::set<std::uint32_t> distinct(experts.begin() + first, experts.begin() + last);
            RC_ASSERT(distinct.size() == static_cast<std::size_t>(last - first));
            RC_ASSERT(distinct.size() >= 1U);
            RC_ASSERT(distinct.size() <= e.top_k);
            for (const std::uint32_t expert : distinct)
                ++rows[expert / each];
            for (auto i = first; i < last; ++i)
                RC_ASSERT(counts.token_of(static_cast<std::uint64_t>(i)) == token);
        }
        for (std::uint32_t to = 0; to < ranks; ++to)
            RC_ASSERT(rows[to] == e.splits[std::size_t{from} * ranks + to]);
    }
}

/// Even splits of many experts are as random routing: 8 of 256 experts over 8 ranks.
TEST(Routing, EvenSplitsGoToAsManyRanksAsRandomExperts) {
    ExpertExchange e = exchange(0, 8, 256);
    e.splits.assign(64, 4096);
    EXPECT_NEAR(copies_of_a_token(exchange(4096, 8, 256), 8), 5.30, 0.03);
    e.tokens = token_counts(e, 8, 0).tokens;
    EXPECT_EQ(e.tokens, 4096U);
    EXPECT_NEAR(copies_of_a_token(e, 8), 5.25, 0.08);
}

RC_GTEST_PROP(RoutingProperty, ChannelsShareOutAllTokens, ()) {
    const auto tokens = *rc::gen::inRange<std::uint32_t>(0, 1000);
    const auto channels = *rc::gen::inRange<std::uint32_t>(1, 40);
    std::uint32_t next = 0;
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
        const TokenRange part = channel_tokens(tokens, channels, channel);
        RC_ASSERT(part.first == next);
        next += part.count;
    }
    RC_ASSERT(next == tokens);
}

}  // namespace
}  // namespace switchfold::experts_routing_test
