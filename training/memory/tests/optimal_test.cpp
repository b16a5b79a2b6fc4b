// SPDX-License-Identifier: Apache-2.0
#include "training/memory/pinning/optimal.h"

#include "training/memory/pinning/first_fit.h"
#include "training/memory/tests/random_pins.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <optional>

namespace switchfold::optimal_test {
namespace {

constexpr OptimalOptions kBytes{1};

struct Brute {
    std::optional<std::uint64_t> saved;
    std::uint64_t least_capacity = std::numeric_limits<std::uint64_t>::max();
};

/// Tries every choice of pinned candidates.
Brute by_brute_force(const PinProblem& problem, std::uint64_t capacity) {
    Brute brute;
    std::vector<bool> pinned(problem.size());
    for (std::uint32_t bits = 0; bits < 1U << problem.size(); ++bits) {
        for (std::size_t i = 0; i < problem.size(); ++i)
            pinned[i] = (bits >> i & 1U) != 0;
        const std::uint64_t needed = pinned_bytes(problem, pinned) + staging_bytes(problem, pinned);
        brute.least_capacity = std::min(brute.least_capacity, needed);
        if (needed <= capacity)
            brute.saved = std::max(brute.saved.value_or(0), saved_bytes(problem, pinned));
    }
    return brute;
}

void expect_brute_force(Staging staging) {
    const AccessSchedule schedule = test_data::random_schedule();
    const PinProblem problem = pin_problem(schedule, staging);
    RC_PRE(problem.size() > 0U && problem.size() <= 16U);
    const auto capacity = *rc::gen::inRange<std::uint64_t>(20, 500);
    const Brute brute = by_brute_force(problem, capacity);
    const PinChoice choice = pin_optimally(problem, capacity, kBytes);
    RC_ASSERT(least_capacity(problem).bytes == brute.least_capacity);
    RC_ASSERT(choice.pinned.empty() == !brute.saved.has_value());
    if (!brute.saved) {
        RC_ASSERT(!choice.refusal.empty());
        return;
    }
    RC_ASSERT(saved_bytes(problem, choice.pinned) == *brute.saved);
    RC_ASSERT(
        pinned_bytes(problem, choice.pinned) + staging_bytes(problem, choice.pinned) <= capacity);
    RC_ASSERT(choice.certificate.optimal);
    RC_ASSERT(choice.certificate.saved_at_most == *brute.saved);
}

// 400 instances for each of three ways of staging.
TEST(OptimalPins, AreThoseOfBruteForce) {
    for (const auto& [staging, name] : kStagingNames) {
        for (int i = 0; i < 4; ++i)
            EXPECT_TRUE(
                rc::check(std::string(name), [staging = staging] { expect_brute_force(staging); }));
    }
}

RC_GTEST_PROP(OptimalPins, AreNeverBelowFirstFit, ()) {
    const AccessSchedule schedule = test_data::random_schedule();
    const PinProblem problem = pin_problem(schedule, Staging::kDoublePeak);
    const auto capacity = *rc::gen::inRange<std::uint64_t>(50, 600);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto greedy = first_fit(problem, capacity, seeded_order(problem, seed));
    RC_PRE(greedy.has_value() && problem.size() > 0U);
    for (const Staging staging : {Staging::kDoublePeak, Staging::kWindow, Staging::kSingle}) {
        const PinProblem other = pin_problem(schedule, staging);
        RC_ASSERT(
            saved_bytes(other, pin_optimally(other, capacity, kBytes).pinned) >=
            saved_bytes(problem, *greedy));
    }
}

RC_GTEST_PROP(OptimalPins, WithGranulesFitAndSayWhatTheyMayLose, ()) {
    const AccessSchedule schedule = test_data::random_schedule();
    const PinProblem problem = pin_problem(schedule, Staging::kWindow);
    RC_PRE(problem.size() > 0U);
    const auto capacity = *rc::gen::inRange<std::uint64_t>(50, 600);
    OptimalOptions coarse;
    coarse.granule = *rc::gen::inRange<std::uint64_t>(2, 9);
    const PinChoice choice = pin_optimally(problem, capacity, coarse);
    const PinChoice best = pin_optimally(problem, capacity, kBytes);
    RC_PRE(!choice.pinned.empty());
    RC_ASSERT(
        pinned_bytes(problem, choice.pinned) + staging_bytes(problem, choice.pinned) <= capacity);
    RC_ASSERT(saved_bytes(problem, choice.pinned) <= saved_bytes(problem, best.pinned));
    RC_ASSERT(saved_bytes(problem, best.pinned) <= choice.certificate.saved_at_most);
}

TEST(OptimalPins, RefuseWhatIsTooWideAndTooLittleMemory) {
    AccessSchedule wide;
    for (std::uint32_t i = 0; i < 14; ++i) {
        MemoryItem item{"h" + std::to_string(i), MemoryClass::kMoments, 10};
        item.persistent = true;
        wide.items.push_back(item);
    }
    AccessStep all{"all"};
    for (std::uint32_t i = 0; i < 14; ++i)
        all.open.push_back({i, true});
    wide.steps = {all, {"none"}};
    count_copies(wide);
    const PinProblem problem = pin_problem(wide, Staging::kSingle);
    EXPECT_EQ(
        pin_optimally(problem, 139, kBytes).refusal,
        "steps that depend on each other have 14 candidates open at a time; the exact programme "
        "takes 12, expected first_fit for this one");
    EXPECT_FALSE(least_capacity(problem).refusal.empty());
    OptimalOptions wider = kBytes;
    wider.most_flags = 14;
    EXPECT_EQ(
        pin_optimally(problem, 139, wider).refusal,
        "139 B for pinned data and staging are less than any choice needs; expected 140 B or more");
    EXPECT_EQ(saved_bytes(problem, pin_optimally(problem, 140, wider).pinned), 14U * 20);
    // If everything fits, no search is needed, however wide the problem is.
    EXPECT_EQ(saved_bytes(problem, pin_optimally(problem, 140, kBytes).pinned), 14U * 20);
}

TEST(OptimalPins, RefuseTablesAndSearchesThatAreTooLarge) {
    // A chain that does not fit as a whole.
    AccessSchedule chain;
    for (std::uint32_t i = 0; i < 40; ++i)
        chain.items.push_back({"a" + std::to_string(i), MemoryClass::kActivations, 10 + i});
    for (std::uint32_t i = 0; i < 40; ++i)
        chain.steps.push_back({"F", StepKind::kForward, 1, {{i, true}}});
    for (std::uint32_t i = 40; i-- > 0;)
        chain.steps.push_back({"B", StepKind::kBackward, 1, {{i, false}}});
    count_copies(chain);
    const PinProblem problem = pin_problem(chain, Staging::kWindow);
    const auto refusal = [&](const OptimalOptions& options) {
        return pin_optimally(problem, 500, options).refusal;
    };
    EXPECT_EQ(refusal(kBytes), "");
    OptimalOptions fine = kBytes;
    fine.most_table_bytes = 10;
    EXPECT_NE(refusal(fine).find("expected a granule above 1 bytes"), std::string::npos);
    OptimalOptions hasty = kBytes;
    hasty.most_effort = 10;
    EXPECT_EQ(
        refusal(hasty),
        "the search for a choice was given up after 10 steps; expected a granule above 1 bytes, or "
        "another planner");
    // A search that ends early still returns a choice and an upper bound. The choice may fall short
    // of the bound.
    for (const std::uint64_t effort : {2'000U, 5'000U, 10'000U, 20'000U}) {
        hasty.most_effort = effort;
        const PinChoice choice = pin_optimally(problem, 500, hasty);
        if (choice.refusal.empty()) {
            EXPECT_LE(saved_bytes(problem, choice.pinned), choice.certificate.saved_at_most);
            EXPECT_GE(
                choice.certificate.saved_at_most,
                saved_bytes(problem, pin_optimally(problem, 500, kBytes).pinned));
        }
    }
}

}  // namespace
}  // namespace switchfold::optimal_test
