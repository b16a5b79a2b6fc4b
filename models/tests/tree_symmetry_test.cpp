// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/tree_symmetry.h"

#include "models/collectives/fifo/step.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace switchfold::tree_symmetry_test {
namespace {

constexpr std::uint32_t kMachines = 3;
constexpr std::uint32_t kMembers = 4;

GroupLayout machines_of_four() {
    GroupLayout layout;
    for (std::uint32_t position = 0; position < kMachines * kMembers; ++position) {
        if (position % kMembers == 0)
            layout.machines.emplace_back();
        layout.machines.back().push_back(position);
        layout.machine_of.push_back(position / kMembers);
    }
    return layout;
}

/// One order per member, which starts at that member. Every other machine is traversed in reverse.
std::vector<std::vector<std::uint32_t>> orders() {
    std::vector<std::vector<std::uint32_t>> all(kMembers);
    for (std::uint32_t turn = 0; turn < kMembers; ++turn)
        for (std::uint32_t machine = 0; machine < kMachines; ++machine)
            for (std::uint32_t i = 0; i < kMembers; ++i) {
                const std::uint32_t place = machine % 2 == 1 ? kMembers - 1 - i : i;
                all[turn].push_back(machine * kMembers + (turn + place) % kMembers);
            }
    return all;
}

TEST(FoldedTrees, ThoseWhoseChainsVisitTheSameKeptMembersAreOne) {
    const GroupLayout layout = machines_of_four();
    const auto trees = tree_parents(layout, orders());
    const FoldedTrees folded = fold_members(layout, trees, 2);
    // Trees 2t and 2t + 1 are those of the order that begins at member t of each machine.
    EXPECT_EQ(folded.image, (std::vector<std::uint32_t>{0, 1, 2, 3, 0, 1, 2, 3}));
    EXPECT_EQ(folded.member_of, (std::vector<std::uint32_t>{0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5}));
}

TEST(FoldedTrees, PlacesKeepTheirParentsAndKeptMembersHoldAsManyAsAll) {
    const GroupLayout layout = machines_of_four();
    const auto trees = tree_parents(layout, orders());
    for (const std::uint32_t kept : {1U, 2U}) {
        const FoldedTrees folded = fold_members(layout, trees, kept);
        std::map<std::uint32_t, std::size_t> blocks;  // by kept member
        for (std::uint32_t tree = 0; tree < trees.size(); ++tree) {
            const std::uint32_t image = folded.image[tree];
            for (std::uint32_t position = 0; position < trees[tree].size(); ++position) {
                const std::uint32_t place = folded.place[tree][position];
                EXPECT_EQ(folded.member_of[place], folded.member_of[position]);
                const std::uint32_t above = trees[tree][position];
                EXPECT_EQ(
                    trees[image][place],
                    above == kNoParent ? kNoParent : folded.place[tree][above]);
                if (image == tree)
                    ++blocks[folded.member_of[position]];
            }
        }
        EXPECT_EQ(blocks.size(), kMachines * kept);
        for (const auto& [member, count] : blocks)
            EXPECT_EQ(count, trees.size()) << member;
    }
}

TEST(FoldedTrees, UnlikeChainsStayApart) {
    const GroupLayout layout = machines_of_four();
    auto odd = orders();
    std::swap(odd[2][0], odd[2][1]);  // members 2 and 3 of the first machine
    const FoldedTrees folded = fold_members(layout, tree_parents(layout, odd), 2);
    EXPECT_EQ(folded.image, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 2, 3}));
}

}  // namespace
}  // namespace switchfold::tree_symmetry_test
