// SPDX-License-Identifier: Apache-2.0
#include "training/plan/division/batch_division.h"

#include "core/random_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace switchfold::batch_division_test {
namespace {

using Tables = std::vector<std::vector<double>>;

std::vector<StepTimes> spans(const Tables& tables) {
    return {tables.begin(), tables.end()};
}

/// A few devices. Times are multiples of an eighth, so their sums are exact.
struct Instance {
    Tables tables;
    std::uint32_t batch = 0;
};
Instance random_instance(RandomStream& random, bool monotone) {
    Instance instance;
    const std::uint64_t devices = 1 + random.below(4);
    for (std::uint64_t i = 0; i < devices; ++i) {
        std::vector<double> times{0};
        const std::uint64_t most = random.below(9);
        for (std::uint64_t b = 1; b <= most; ++b) {
            const double step = static_cast<double>(random.below(24)) / 8;
            times.push_back(monotone ? times.back() + step : step + 0.125);
        }
        instance.tables.push_back(std::move(times));
    }
    instance.batch = static_cast<std::uint32_t>(1 + random.below(12));
    return instance;
}

/// Tries every division in the order of the last objective: more samples on the first devices come
/// first.
class BruteForce {
public:
    explicit BruteForce(const Instance& instance) :
        instance_(instance), samples_(instance.tables.size(), 0) {
        visit(0, instance.batch);
    }
    [[nodiscard]] const std::optional<BatchDivision>& best() const { return best_; }

private:
    void visit(std::size_t device, std::uint32_t left) {
        if (device == samples_.size()) {
            if (left == 0)
                judge();
            return;
        }
        const std::size_t most = instance_.tables[device].size() - 1;
        for (std::uint32_t b = std::min<std::uint32_t>(left, static_cast<std::uint32_t>(most)) + 1;
             b-- > 0;) {
            samples_[device] = b;
            visit(device + 1, left - b);
        }
    }
    void judge() {
        double longest = 0;
        double busy = 0;
        for (std::size_t i = 0; i < samples_.size(); ++i) {
            longest = std::max(longest, instance_.tables[i][samples_[i]]);
            busy += instance_.tables[i][samples_[i]];
        }
        const double idle = longest * static_cast<double>(samples_.size()) - busy;
        if (!best_ || longest < best_->seconds || (longest == best_->seconds && idle < best_->idle))
            best_ = {samples_, longest, idle, DivisionMethod::kExact};
    }

    const Instance& instance_;
    std::vector<std::uint32_t> samples_;
    std::optional<BatchDivision> best_;
};

TEST(BatchDivision, ExactIsBruteForceOnAThousandRandomInstances) {
    RandomStream random(1, "division");
    std::uint32_t solved = 0;
    for (int i = 0; i < 1000; ++i) {
        const Instance instance = random_instance(random, i % 2 == 0);
        const auto best = BruteForce(instance).best();
        const auto exact = divide_exactly(spans(instance.tables), instance.batch);
        ASSERT_EQ(best.has_value(), exact.has_value());
        if (!best)
            continue;
        ++solved;
        ASSERT_EQ(exact->samples, best->samples);
        ASSERT_EQ(exact->seconds, best->seconds);
        ASSERT_EQ(exact->idle, best->idle);
    }
    EXPECT_GT(solved, 600U);
}

TEST(BatchDivision, GreedyAndBisectionAreOptimalOnAThousandMonotoneInstances) {
    RandomStream random(2, "division");
    std::uint32_t solved = 0;
    for (int i = 0; i < 1000; ++i) {
        const Instance instance = random_instance(random, true);
        const auto best = BruteForce(instance).best();
        const auto greedy = divide_greedily(spans(instance.tables), instance.batch);
        const auto least = least_seconds(spans(instance.tables), instance.batch);
        ASSERT_EQ(best.has_value(), greedy.has_value());
        ASSERT_EQ(best.has_value(), least.has_value());
        if (!best)
            continue;
        ++solved;
        ASSERT_EQ(greedy->seconds, best->seconds);
        ASSERT_EQ(*least, best->seconds);
        ASSERT_EQ(
            std::accumulate(greedy->samples.begin(), greedy->samples.end(), 0U), instance.batch);
    }
    EXPECT_GT(solved, 600U);
}

TEST(BatchDivision, EqualDevicesDifferByAtMostOneSample) {
    // Rounding up on all devices but the last would be 7 x 13 + 9.
    std::vector<double> flat(101, 1.0);
    flat[0] = 0;
    std::vector<double> linear(101);
    std::iota(linear.begin(), linear.end(), 0.0);
    std::vector<double> steps(101);
    for (std::size_t b = 0; b < steps.size(); ++b)
        steps[b] = static_cast<double>((b + 7) / 8);
    const std::vector<std::uint32_t> expected{13, 13, 13, 13, 12, 12, 12, 12};
    for (const auto& times : {flat, linear, steps}) {
        const std::vector<StepTimes> devices(8, times);
        EXPECT_EQ(divide(devices, 100)->samples, expected);
        EXPECT_EQ(divide_evenly(devices, 100)->samples, expected);
    }
}

TEST(BatchDivision, NonMonotoneTimesAreDividedExactly) {
    // On the first device, two samples are faster than one: a larger batch can get a better
    // algorithm.
    const Tables tables{{0, 5, 2, 6}, {0, 3, 4, 5}};
    const auto division = divide(spans(tables), 3);
    EXPECT_EQ(division->method, DivisionMethod::kExact);
    EXPECT_EQ(division->samples, (std::vector<std::uint32_t>{2, 1}));
    EXPECT_EQ(division->seconds, 3);
    EXPECT_EQ(division->idle, 1);
}

TEST(BatchDivision, PaddedTimesAreMonotoneAndNeverLonger) {
    const std::vector<double> times{0, 5, 2, 6, 4};
    const std::vector<double> filled = padded(times);
    EXPECT_EQ(filled, (std::vector<double>{0, 2, 2, 4, 4}));
    EXPECT_TRUE(is_monotone(filled));
    EXPECT_FALSE(is_monotone(times));
}

TEST(BatchDivision, WhatDoesNotFitIsNone) {
    const Tables tables{{0, 1, 2}, {0, 1}};
    EXPECT_FALSE(divide(spans(tables), 4));
    EXPECT_FALSE(divide_exactly(spans(tables), 4));
    EXPECT_FALSE(least_seconds(spans(tables), 4));
    EXPECT_FALSE(divide_evenly(spans(tables), 4));
    EXPECT_EQ(divide(spans(tables), 3)->samples, (std::vector<std::uint32_t>{2, 1}));
    EXPECT_FALSE(priced(spans(tables), {1, 2}));
}

TEST(BatchDivision, MicroBatchesAndARestAddUp) {
    const std::vector<double> times{0, 1, 1.5, 1.75};
    EXPECT_EQ(
        with_micro_batches(times, 7, 3, 0.5),
        (std::vector<double>{0, 1.5, 2, 2.25, 3.25, 3.75, 4, 5}));
}

TEST(BatchDivision, OnlyAsManyDevicesAsPay) {
    const Tables tables{{0, 2, 4, 6, 8}, {0, 1, 2, 3, 4}, {0, 2, 4, 6, 8}};
    const std::vector<double> free(4, 0);
    EXPECT_EQ(divide_over_some(spans(tables), 4, free)->seconds, 2);
    // A further device costs 1.5: the fast one alone takes 4 + 1.5 ahead of two with 3 + 3.
    EXPECT_EQ(
        divide_over_some(spans(tables), 4, {0, 1.5, 3, 4.5})->samples,
        (std::vector<std::uint32_t>{0, 4, 0}));
    // A further device costs 0.5: two take 3 + 1, all three 2 + 1.5.
    EXPECT_EQ(
        divide_over_some(spans(tables), 4, {0, 0.5, 1, 1.5})->samples,
        (std::vector<std::uint32_t>{1, 2, 1}));
}

TEST(BatchDivision, SomeDevicesAreBruteForceOverSubsets) {
    RandomStream random(3, "division");
    for (int i = 0; i < 300; ++i) {
        const Instance instance = random_instance(random, true);
        std::vector<double> overhead{0};
        for (std::size_t n = 0; n < instance.tables.size(); ++n)
            overhead.push_back(overhead.back() + static_cast<double>(random.below(16)) / 8);
        std::optional<double> best;
        for (std::uint32_t set = 1; set < 1U << instance.tables.size(); ++set) {
            Instance some = instance;
            std::size_t used = 0;
            for (std::size_t d = 0; d < some.tables.size(); ++d) {
                if ((set >> d & 1U) == 0)
                    some.tables[d] = {0};
                else
                    ++used;
            }
            if (const auto division = BruteForce(some).best())
                if (!best || division->seconds + overhead[used] < *best)
                    best = division->seconds + overhead[used];
        }
        const auto found = divide_over_some(spans(instance.tables), instance.batch, overhead);
        ASSERT_EQ(found.has_value(), best.has_value());
        if (!found)
            continue;
        const auto used = static_cast<std::size_t>(std::count_if(
            found->samples.begin(), found->samples.end(), [](auto b) { return b > 0; }));
        ASSERT_LE(found->seconds + overhead[used], *best);
    }
}

TEST(BatchDivision, SpreadIsOfTheDevicesThatAreUsed) {
    const Tables tables{{0, 1}, {0, 3}, {0, 9}};
    const StepSpread spread = spread_of(spans(tables), {1, 1, 0});
    EXPECT_EQ(spread.longest, 3);
    EXPECT_EQ(spread.mean, 2);
    EXPECT_EQ(spread.deviation, 1);
    EXPECT_EQ(spread.longest_over_mean(), 1.5);
}

}  // namespace
}  // namespace switchfold::batch_division_test
