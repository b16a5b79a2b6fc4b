// SPDX-License-Identifier: Apache-2.0
// The equal parts of a pass, of which a folded step runs few.
#include "training/plan/fold/repeated_work.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace switchfold {
namespace {

WorkItem kernel(std::uint64_t takes, const std::string& name = {}) {
    KernelItem item;
    item.name = name;
    item.kernel.isolated = microseconds(takes);
    return item;
}

WorkItem collective(std::uint64_t bytes) {
    CollectiveItem item;
    item.bytes = Bytes(bytes);
    return item;
}

WorkItem hold(std::int64_t bytes) {
    return HoldItem{MemoryClass::kActivations, bytes, false};
}

/// Something, equal blocks of other names and memory, something else.
Work with_blocks(std::uint32_t blocks) {
    Work work{kernel(9), collective(7)};
    for (std::uint32_t i = 0; i < blocks; ++i)
        for (const WorkItem& item :
             {kernel(1, std::to_string(i)), hold(i), collective(5), kernel(2), kernel(2)})
            work.push_back(item);
    work.push_back(kernel(8));
    return work;
}

Work together(const ShorterWork& shorter) {
    Work all = shorter.first;
    all.insert(all.end(), shorter.repeating.begin(), shorter.repeating.end());
    all.insert(all.end(), shorter.rest.begin(), shorter.rest.end());
    return all;
}

std::size_t timed_items(const Work& work) {
    return static_cast<std::size_t>(std::ranges::count_if(
        work, [](const WorkItem& item) { return !std::holds_alternative<HoldItem>(item); }));
}

TEST(RepeatedWork, BlocksAreFoundWhateverTheirNamesAndMemory) {
    const Work work = with_blocks(12);
    const auto found = repeated_work(work, 9);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->parts, 12U);
    EXPECT_EQ(found->part, 4U);
    const ShorterWork shorter = shorter_work(work, *found, 6, 4);
    EXPECT_TRUE(same_times(together(shorter), with_blocks(10)));
    EXPECT_EQ(timed_items(shorter.first), 2 + 6 * 4U);
    EXPECT_EQ(timed_items(shorter.repeating), 4 * 4U);
    EXPECT_EQ(timed_items(shorter.rest), 1U);
    EXPECT_FALSE(repeated_work(with_blocks(8), 9));
}

TEST(RepeatedWork, KernelsAloneAreNotWorthIt) {
    Work work;
    for (std::uint32_t i = 0; i < 100; ++i)
        work.push_back(kernel(3));
    EXPECT_FALSE(repeated_work(work, 9));
}

TEST(RepeatedWork, OtherTimesAreOtherWork) {
    EXPECT_FALSE(same_times({kernel(1)}, {kernel(2)}));
    EXPECT_FALSE(same_times({collective(1)}, {collective(2)}));
    EXPECT_FALSE(same_times({collective(1)}, {JoinItem{}}));
    EXPECT_TRUE(same_times({kernel(1, "a"), hold(1)}, {hold(2), kernel(1, "b")}));
}

RC_GTEST_PROP(RepeatedWorkProperty, APassWithAllItsPartsIsThePass, ()) {
    Work work;
    for (const auto what :
         *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0U, 4U)))
        work.push_back(what == 0 ? collective(1) : what == 1 ? hold(1) : kernel(what));
    const auto fewest = *rc::gen::inRange(2U, 5U);
    const auto found = repeated_work(work, fewest);
    RC_PRE(found.has_value());
    RC_ASSERT(found->parts >= fewest);
    const ShorterWork whole = shorter_work(work, *found, 1, found->parts - 1);
    RC_ASSERT(together(whole).size() == work.size());
    RC_ASSERT(same_times(together(whole), work));
    const ShorterWork shorter = shorter_work(work, *found, 1, 1);
    RC_ASSERT(timed_items(shorter.repeating) == found->part);
    RC_ASSERT(
        timed_items(together(shorter)) + (found->parts - 2) * found->part == timed_items(work));
}

}  // namespace
}  // namespace switchfold
