// SPDX-License-Identifier: Apache-2.0
// The equal parts of a pass, of which a folded step runs few.
#include "training/plan/fold/repeated_work.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>

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

TEST(RepeatedWork, BlocksAreFoundWhateverTheirNamesAndMemory) {
    const Work work = with_blocks(12);
    const auto found = repeated_work(work, 9);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->parts, 12U);
    EXPECT_EQ(found->part, 4U);
    for (const std::uint32_t parts : {1U, 2U, 6U, 12U})
        EXPECT_TRUE(same_times(with_parts(work, *found, parts), with_blocks(parts))) << parts;
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
    RC_ASSERT(with_parts(work, *found, found->parts).size() == work.size());
    // Each part that is taken away takes as much.
    const Work one = with_parts(work, *found, 1);
    const Work two = with_parts(work, *found, 2);
    RC_ASSERT(!same_times(one, two));
    RC_ASSERT(one.size() < two.size());
}

}  // namespace
}  // namespace switchfold
