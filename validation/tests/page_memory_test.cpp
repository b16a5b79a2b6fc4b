// SPDX-License-Identifier: Apache-2.0
#include "validation/memory/page_memory.h"

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace switchfold::validation::page_memory_test {
namespace {

TEST(PageMemory, TakesTheLowestOrTheHighestHoleThatIsLargeEnough) {
    PageMemory memory(100);
    const PageRange low = memory.take_low(10).value();
    const PageRange middle = memory.take_low(20).value();
    const PageRange high = memory.take_high(30).value();
    EXPECT_EQ(low.begin, 0U);
    EXPECT_EQ(middle.begin, 10U);
    EXPECT_EQ(high.begin, 70U);
    memory.give_back(low);
    EXPECT_EQ(memory.largest_hole(), 40U);
    EXPECT_EQ(memory.take_low(11).value().begin, 30U);  // below 10 there are 10
    // 39 pages are free, and no 30 of them lie side by side.
    EXPECT_FALSE(memory.take_low(30).has_value());
    EXPECT_FALSE(memory.take_high(30).has_value());
    memory.give_back(high);
    EXPECT_EQ(memory.take_high(59).value().begin, 41U);
}

RC_GTEST_PROP(PageMemory, NoTwoRangesShareAPageAndAllComesBack, ()) {
    const auto pages = *rc::gen::inRange<std::uint64_t>(1, 200);
    PageMemory memory(pages);
    std::vector<PageRange> taken;
    for (int i = 0; i < 200; ++i) {
        if (!taken.empty() && *rc::gen::arbitrary<bool>()) {
            const auto which = *rc::gen::inRange<std::size_t>(0, taken.size());
            memory.give_back(taken[which]);
            taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
            continue;
        }
        const auto size = *rc::gen::inRange<std::uint64_t>(1, 60);
        const std::uint64_t hole = memory.largest_hole();
        const auto range =
            *rc::gen::arbitrary<bool>() ? memory.take_low(size) : memory.take_high(size);
        RC_ASSERT(range.has_value() == (size <= hole));
        if (!range)
            continue;
        RC_ASSERT(range->size() == size && range->end <= pages);
        for (const PageRange& other : taken)
            RC_ASSERT(other.end <= range->begin || range->end <= other.begin);
        taken.push_back(*range);
    }
    for (const PageRange& range : taken)
        memory.give_back(range);
    RC_ASSERT(memory.largest_hole() == pages);
}

}  // namespace
}  // namespace switchfold::validation::page_memory_test
