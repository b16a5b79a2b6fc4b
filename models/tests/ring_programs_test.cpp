// SPDX-License-Identifier: Apache-2.0
// Programs of a ring with steps left out: whatever steps each block has run before, every step that
// a block sends is received by the next block.
#include "models/collectives/fifo/fifo.h"
#include "models/collectives/fifo/step.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <string>

namespace switchfold::ring_programs_test {
namespace {

/// Bytes that a program sends and receives, and its number of steps.
struct Moved {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t steps = 0;
    bool operator==(const Moved&) const = default;
};

void add(const Step& step, Moved& moved) {
    moved.sent += step.send != 0 ? step.bytes : 0;
    moved.received += step.receive != 0 ? step.bytes : 0;
    ++moved.steps;
}

void run(Program& program, std::uint64_t steps, Moved& moved) {
    for (std::uint64_t i = 0; i < steps; ++i) {
        const std::optional<Step> step = program.next();
        if (!step)
            return;
        add(*step, moved);
    }
}

std::vector<BlockPlan>
plan(const std::string& kind, const std::vector<std::uint32_t>& order, std::uint64_t loops) {
    constexpr std::uint64_t kChunk = 16 * 1024;
    const Part part{0, loops * kChunk};
    if (kind == "all_gather")
        return plan_ring_all_gather(order, 0, part, kChunk, part.bytes);
    if (kind == "reduce_scatter")
        return plan_ring_reduce_scatter(order, 0, part, kChunk, part.bytes);
    return plan_ring_all_reduce(order, 0, {0, loops * kChunk * order.size()}, kChunk, kGrain);
}

class RingPrograms : public ::testing::TestWithParam<std::string> {};

TEST_P(RingPrograms, StillFitTogetherWhereverStepsAreLeftOut) {
    ASSERT_TRUE(rc::check([&] {
        const auto ranks = *rc::gen::inRange<std::uint32_t>(33, 90);
        const auto loops = *rc::gen::inRange<std::uint64_t>(1, 4);
        std::vector<std::uint32_t> order(ranks);
        std::iota(order.begin(), order.end(), 0U);
        std::vector<BlockPlan> plans = plan(GetParam(), order, loops);
        std::vector<Moved> moved(ranks);
        // Some blocks are a few steps ahead: at the end of a loop or in the next.
        const auto ahead = *rc::gen::inRange<std::uint64_t>(0, 6);
        const auto begun = *rc::gen::weightedOneOf<std::uint64_t>(
            {{1, rc::gen::inRange<std::uint64_t>(0, loops * 2 * ranks)},
             {2, rc::gen::map(rc::gen::inRange<std::uint64_t>(0, 8), [&](std::uint64_t before) {
                  return plans.front().program->cycle() + 4 - before;
              })}});
        std::uint64_t can = UINT64_MAX;
        for (std::uint32_t r = 0; r < ranks; ++r) {
            run(*plans[r].program, begun + (*rc::gen::arbitrary<bool>() ? ahead : 0), moved[r]);
            can = std::min(can, plans[r].program->skippable(2, Transport()));
        }
        const std::uint64_t left_out = can == 0 ? 0 : *rc::gen::inRange<std::uint64_t>(0, can + 1);
        std::uint64_t all = 0;
        for (std::uint32_t r = 0; r < ranks; ++r) {
            plans[r].program->skip(left_out);
            run(*plans[r].program, 4 * loops * ranks, moved[r]);
            RC_ASSERT(!plans[r].program->next());
            all += moved[r].steps;
        }
        for (std::uint32_t r = 0; r < ranks; ++r)
            RC_ASSERT(moved[r].sent == moved[(r + 1) % ranks].received);
        // Only the steps that were to be left out are missing.
        const std::uint64_t cycle = plans.front().program->cycle();
        RC_ASSERT(all == ranks * (loops * (cycle + 1) - left_out));
    }));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, RingPrograms, ::testing::Values("all_reduce", "reduce_scatter", "all_gather"));

}  // namespace
}  // namespace switchfold::ring_programs_test
