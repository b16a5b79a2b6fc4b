// SPDX-License-Identifier: Apache-2.0
// Which machines of an exchange stand for which.
#include "interconnect/hop.h"
#include "models/collectives/choice/group_layout.h"
#include "models/collectives/shortcuts/kept_machines.h"
#include "models/collectives/shortcuts/rank_symmetry.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>
#include <vector>

namespace switchfold::exchange_symmetry_test {
namespace {

std::optional<RankSymmetry> fold(const Topology& topology) {
    std::vector<std::uint32_t> ranks(topology.gpus());
    std::iota(ranks.begin(), ranks.end(), 0U);
    return fold_exchange(topology, lay_out(topology, ranks));
}

TEST(KeptMachines, StandForEveryMachineOnceAsSeenFromEachOther) {
    ASSERT_TRUE(rc::check([] {
        const auto members = *rc::gen::inRange<std::uint32_t>(1, 9);
        const auto group = *rc::gen::inRange<std::uint32_t>(2, 6);
        const auto groups = *rc::gen::inRange<std::uint32_t>(2, 6);
        const std::uint32_t ranks = members * group * groups;
        std::vector<std::uint32_t> kept;
        for (const std::uint32_t machine : {0U, 1U, group, group + 1})
            for (std::uint32_t member = 0; member < members; ++member)
                kept.push_back(machine * members + member);
        const KeptMachines machines(kept, ranks, members);
        RC_ASSERT(machines.kept() == 4 * members);
        for (std::uint32_t from = 0; from < machines.kept(); ++from) {
            RC_ASSERT(machines.like(machines.rank_of(from)) == from);
            std::map<std::uint32_t, std::uint32_t> parts;
            for (std::uint32_t to = 0; to < ranks; ++to) {
                const std::uint32_t image = machines.image(from, to);
                RC_ASSERT(machines.rank_of(image) % members == to % members);
                ++parts[image];
            }
            // As much as it sends comes back.
            for (const auto& [to, count] : parts)
                RC_ASSERT(count == machines.count(machines.differing(to, machines.rank_of(from))));
        }
    }));
}

TEST(ExchangeFold, TwoMachinesStandForAllBehindOneSwitch) {
    const Topology topology = TestMachine::cluster(6, 4);
    const auto found = fold(topology);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->kept(), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(found->image_of_rank[22], 6U);  // the third of an odd machine
    for (std::uint32_t hop = 0; hop < 2 * topology.edges.size(); ++hop) {
        const std::uint32_t image = found->image_of_hop[hop];
        ASSERT_NE(image, RankSymmetry::kIdle);
        EXPECT_TRUE(same_link(topology, hop, image));
        EXPECT_NEAR(found->times_of_hop[hop], 1, 1e-9);
    }
}

TEST(ExchangeFold, AnUnlikeLinkPreventsIt) {
    const Topology good = TestMachine::cluster(4, 4);
    ASSERT_TRUE(fold(good));
    for (const std::size_t edge : {std::size_t{0}, good.edges.size() - 1}) {
        Topology odd = good;
        odd.edges[edge].lanes += 1;
        EXPECT_FALSE(fold(odd));
        odd = good;
        odd.edges[edge].down = true;
        EXPECT_FALSE(fold(odd));
    }
}

TEST(ExchangeFold, NeedsFourMachines) {
    EXPECT_FALSE(fold(TestMachine::cluster(3, 8)));
    EXPECT_TRUE(fold(TestMachine::cluster(4, 1)));
}

}  // namespace
}  // namespace switchfold::exchange_symmetry_test
