// SPDX-License-Identifier: Apache-2.0
#include "training/memory/offload/optimal.h"

#include "training/memory/offload/first_fit.h"
#include "training/memory/tests/random_offload.h"

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

/// Tries every choice of retained candidates.
Brute by_brute_force(const OffloadProblem& problem, std::uint64_t capacity) {
    Brute brute;
    std::vector<bool> retained(problem.size());
    for (std::uint32_t bits = 0; bits < 1U << problem.size(); ++bits) {
        for (std::size_t i = 0; i < problem.size(); ++i)
            retained[i] = (bits >> i & 1U) != 0;
        const std::uint64_t needed =
            retained_bytes(problem, retained) + staging_bytes(problem, retained);
        brute.least_capacity = std::min(brute.least_capacity, needed);
        if (needed <= capacity)
            brute.saved = std::max(brute.saved.value_or(0), saved_bytes(problem, retained));
    }
    return brute;
}

void expect_brute_force(Staging staging) {
    const TensorUses schedule = test_data::random_schedule();
    const OffloadProblem problem = offload_problem(schedule, staging);
    RC_PRE(problem.size() > 0U && problem.size() <= 16U);
    const auto capacity = *rc::gen::inRange<std::uint64_t>(20, 500);
    const Brute brute = by_brute_force(problem, capacity);
    const OffloadChoice choice = retain_optimally(problem, capacity, kBytes);
    RC_ASSERT(least_capacity(problem).bytes == brute.least_capacity);
    RC_ASSERT(choice.retained.empty() == !brute.saved.has_value());
    if (!brute.saved) {
        RC_ASSERT(!choice.refusal.empty());
        return;
    }
    RC_ASSERT(saved_bytes(problem, choice.retained) == *brute.saved);
    RC_ASSERT(
        retained_bytes(problem, choice.retained) + staging_bytes(problem, choice.retained) <=
        capacity);
    RC_ASSERT(choice.certificate.optimal);
    RC_ASSERT(choice.certificate.saved_at_most == *brute.saved);
}

// 400 instances for each of three ways of staging.
TEST(OptimalOffload, AreThoseOfBruteForce) {
    for (const auto& [staging, name] : kStagingNames) {
        for (int i = 0; i < 4; ++i)
            EXPECT_TRUE(
                rc::check(std::string(name), [staging = staging] { expect_brute_force(staging); }));
    }
}

RC_GTEST_PROP(OptimalOffload, AreNeverBelowFirstFit, ()) {
    const TensorUses schedule = test_data::random_schedule();
    const OffloadProblem problem = offload_problem(schedule, Staging::kDoublePeak);
    const auto capacity = *rc::gen::inRange<std::uint64_t>(50, 600);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto greedy = first_fit(problem, capacity, seeded_order(problem, seed));
    RC_PRE(greedy.has_value() && problem.size() > 0U);
    for (const Staging staging : {Staging::kDoublePeak, Staging::kWindow, Staging::kSingle}) {
        const OffloadProblem other = offload_problem(schedule, staging);
        RC_ASSERT(
            saved_bytes(other, retain_optimally(other, capacity, kBytes).retained) >=
            saved_bytes(problem, *greedy));
    }
}

RC_GTEST_PROP(OptimalOffload, WithGranulesFitAndSayWhatTheyMayLose, ()) {
    const TensorUses schedule = test_data::random_schedule();
    const OffloadProblem problem = offload_problem(schedule, Staging::kWindow);
    RC_PRE(problem.size() > 0U);
    const auto capacity = *rc::gen::inRange<std::uint64_t>(50, 600);
    OptimalOptions coarse;
    coarse.granule = *rc::gen::inRange<std::uint64_t>(2, 9);
    const OffloadChoice choice = retain_optimally(problem, capacity, coarse);
    const OffloadChoice best = retain_optimally(problem, capacity, kBytes);
    RC_PRE(!choice.retained.empty());
    RC_ASSERT(
        retained_bytes(problem, choice.retained) + staging_bytes(problem, choice.retained) <=
        capacity);
    RC_ASSERT(saved_bytes(problem, choice.retained) <= saved_bytes(problem, best.retained));
    RC_ASSERT(saved_bytes(problem, best.retained) <= choice.certificate.saved_at_most);
}

TEST(OptimalOffload, RefuseWhatIsTooWideAndTooLittleMemory) {
    TensorUses wide;
    for (std::uint32_t i = 0; i < 14; ++i) {
        MemoryItem item{"h" + std::to_string(i), MemoryClass::kMoments, 10};
        item.persistent = true;
        wide.items.push_back(item);
    }
    LayerUse all{"all"};
    for (std::uint32_t i = 0; i < 14; ++i)
        all.open.push_back({i, true});
    wide.steps = {all, {"none"}};
    count_copies(wide);
    const OffloadProblem problem = offload_problem(wide, Staging::kSingle);
    EXPECT_EQ(
        retain_optimally(problem, 139, kBytes).refusal,
        "steps that depend on each other have 14 candidates open at a time; the exact programme "
        "takes 12, expected first_fit for this one");
    EXPECT_FALSE(least_capacity(problem).refusal.empty());
    OptimalOptions wider = kBytes;
    wider.most_flags = 14;
    EXPECT_EQ(
        retain_optimally(problem, 139, wider).refusal,
        "139 B for retained data and staging are less than any choice needs; expected 140 B or "
        "more");
    EXPECT_EQ(saved_bytes(problem, retain_optimally(problem, 140, wider).retained), 14U * 20);
    // If everything fits, no search is needed, however wide the problem is.
    EXPECT_EQ(saved_bytes(problem, retain_optimally(problem, 140, kBytes).retained), 14U * 20);
}

TEST(OptimalOffload, RefuseTablesAndSearchesThatAreTooLarge) {
    // A chain that does not fit as a whole.
    TensorUses chain;
    for (std::uint32_t i = 0; i < 40; ++i)
        chain.items.push_back({"a" + std::to_string(i), MemoryClass::kActivations, 10 + i});
    for (std::uint32_t i = 0; i < 40; ++i)
        chain.steps.push_back({"F", UseKind::kForward, 1, {{i, true}}});
    for (std::uint32_t i = 40; i-- > 0;)
        chain.steps.push_back({"B", UseKind::kBackward, 1, {{i, false}}});
    count_copies(chain);
    const OffloadProblem problem = offload_problem(chain, Staging::kWindow);
    const auto refusal = [&](const OptimalOptions& options) {
        return retain_optimally(problem, 500, options).refusal;
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
        const OffloadChoice choice = retain_optimally(problem, 500, hasty);
        if (choice.refusal.empty()) {
            EXPECT_LE(saved_bytes(problem, choice.retained), choice.certificate.saved_at_most);
            EXPECT_GE(
                choice.certificate.saved_at_most,
                saved_bytes(problem, retain_optimally(problem, 500, kBytes).retained));
        }
    }
}

}  // namespace
}  // namespace switchfold::optimal_test
