// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/reaches.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace switchfold::reaches_test {
namespace {

Reach reach(std::vector<std::uint32_t> links, std::vector<std::uint32_t> ranks, double load = 0.1) {
    const std::size_t size = ranks.size();
    return {std::move(links), std::move(ranks), std::vector<double>(size, load)};
}

TEST(Reaches, OthersTouchOverGpusAndSlowOverLinksOrInAScarceMemory) {
    Reaches reaches;
    const std::uint32_t one = reaches.add(reach({1, 2, 3}, {0, 1}, 0.5));
    const std::uint32_t other = reaches.add(reach({4, 5}, {2, 3}, 0.5));
    const std::uint32_t same_link = reaches.add(reach({3, 4}, {6, 7}));
    const std::uint32_t light = reaches.add(reach({8}, {1, 2}, 0.4));
    const std::uint32_t heavy = reaches.add(reach({9}, {1, 4}, 0.5));
    using Numbers = std::vector<std::uint32_t>;
    EXPECT_EQ(reaches.touching(one), (Numbers{one, 0, same_link, light, heavy}));
    EXPECT_EQ(reaches.slowing(one), (Numbers{one, 0, same_link, heavy}));
    EXPECT_EQ(reaches.touching(other), (Numbers{other, 0, same_link, light}));
    EXPECT_EQ(reaches.slowing(other), (Numbers{other, 0, same_link}));
    EXPECT_EQ(reaches.touching(light), (Numbers{light, 0, one, other, heavy}));
    EXPECT_EQ(reaches.slowing(light), (Numbers{light, 0})) << "0.4 and 0.5 leave room";
}

TEST(Reaches, EverythingIsSlowedByAll) {
    Reaches reaches;
    const std::uint32_t one = reaches.add(reach({1}, {0, 1}));
    reaches.begin(one);
    EXPECT_EQ(reaches.slowed_by(Reaches::kAll), 1U);
    reaches.begin(Reaches::kAll);
    EXPECT_EQ(reaches.slowed_by(one), 2U);
    reaches.end(one);
    EXPECT_EQ(reaches.slowed_by(one), 1U);
    EXPECT_EQ(reaches.touched_by(Reaches::kAll), 1U);
}

RC_GTEST_PROP(Reaches, CountsThoseUnderWayWheneverTheyWereAdded, ()) {
    Reaches reaches;
    std::vector<Reach> all(1);
    std::vector<std::uint32_t> under_way;  // numbers
    const int steps = *rc::gen::inRange(1, 40);
    for (int i = 0; i < steps; ++i) {
        const int what = *rc::gen::inRange(0, 3);
        if (what == 0) {
            const auto numbers = [](std::uint32_t most) {
                const auto drawn = *rc::gen::container<std::vector<std::uint32_t>>(
                    rc::gen::inRange<std::uint32_t>(0, most));
                const std::set<std::uint32_t> ascending(drawn.begin(), drawn.end());
                return std::vector<std::uint32_t>(ascending.begin(), ascending.end());
            };
            all.push_back(reach(numbers(30), numbers(10), *rc::gen::element(0.1, 0.5)));
            RC_ASSERT(reaches.add(all.back()) == all.size() - 1);
        } else if (what == 1) {
            under_way.push_back(
                *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(all.size())));
            reaches.begin(under_way.back());
        } else if (!under_way.empty()) {
            reaches.end(under_way.back());
            under_way.pop_back();
        }
    }
    const auto crowd = [](const Reach& a, const Reach& b) {
        for (std::size_t i = 0; i < a.ranks.size(); ++i)
            for (std::size_t k = 0; k < b.ranks.size(); ++k)
                if (a.ranks[i] == b.ranks[k] && a.loads[i] + b.loads[k] > 0.95)
                    return true;
        return false;
    };
    for (std::uint32_t number = 0; number < all.size(); ++number) {
        std::uint32_t touched = 0;
        std::uint32_t slowed = 0;
        for (const std::uint32_t other : under_way) {
            const bool whole = number == 0 || other == 0 || number == other;
            const bool slows = whole || share_any(all[number].links, all[other].links) ||
                               crowd(all[number], all[other]);
            slowed += slows ? 1 : 0;
            touched += slows || share_any(all[number].ranks, all[other].ranks) ? 1 : 0;
        }
        RC_ASSERT(reaches.touched_by(number) == touched);
        RC_ASSERT(reaches.slowed_by(number) == slowed);
    }
}

}  // namespace
}  // namespace switchfold::reaches_test
