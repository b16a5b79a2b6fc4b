// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/meeting.h"

#include "core/random_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace switchfold::elastic::meeting_test {
namespace {

constexpr Time us(std::uint64_t value) {
    return Time(1'000'000) * value;
}

TEST(RingAllGather, TakesNMinusOneStepsWhereAllStartTogether) {
    for (const std::size_t ranks : {1U, 2U, 5U, 64U})
        for (const Time end : ring_all_gather(std::vector<Time>(ranks, us(50)), us(100)))
            EXPECT_EQ(end, us(50 + 100 * (ranks - 1)));
}

TEST(RingAllGather, TheLateRanksPartReachesEachAfterItsWay) {
    std::vector<Time> arrivals(8);
    arrivals[3] = us(10'000);
    const std::vector<Time> ends = ring_all_gather(arrivals, us(100));
    for (std::size_t hops = 1; hops < 8; ++hops)
        EXPECT_EQ(ends[(3 + hops) % 8], us(10'000 + 100 * hops)) << hops;
    // The late rank finds the other ranks' parts already waiting when it arrives.
    EXPECT_EQ(ends[3], us(10'000));
}

TEST(RingAllGather, NobodyIsDoneBeforeAllHaveCome) {
    RandomStream random(3, "ring");
    for (int run = 0; run < 100; ++run) {
        std::vector<Time> arrivals(2 + random.below(40));
        for (Time& arrival : arrivals)
            arrival = us(random.below(5000));
        const Time last = *std::max_element(arrivals.begin(), arrivals.end());
        for (const Time end : ring_all_gather(arrivals, us(100))) {
            EXPECT_GE(end, last);
            EXPECT_LE(end, last + us(100) * (arrivals.size() - 1));
        }
    }
}

TEST(Connections, OfAMachineAreTwoEndsAChannel) {
    const Placement one = even_placement(8, 1, 24);
    for (const Time end : connect_rings(one, std::vector<Time>(8), {us(1000), us(9000)}))
        EXPECT_EQ(end, us(48'000));
    EXPECT_EQ(connect_rings(even_placement(1, 1, 24), {us(5)}, {us(1000), us(9000)}).at(0), us(5));
}

TEST(Connections, RanksAtTheEndsOfMachinesReachOverTheNetwork) {
    // Eight channels over two machines of four GPUs: each GPU is the entry of its machine for two
    // channels and the exit for two.
    const Placement two = even_placement(8, 2, 8);
    for (const Time end : connect_rings(two, std::vector<Time>(8), {us(1), us(100)}))
        EXPECT_EQ(end, us(12 * 1 + 4 * 100));
    // One GPU per machine: every connection crosses the network.
    for (const Time end :
         connect_rings(even_placement(4, 4, 8), std::vector<Time>(4), {us(1), us(100)}))
        EXPECT_EQ(end, us(1600));
}

TEST(Connections, AreThereWhenBothEndsAre) {
    std::vector<Time> arrivals(4);
    arrivals[2] = us(1000);
    Placement ring = even_placement(4, 1, 2);
    ring.rings = {{0, 1, 2, 3}};
    const std::vector<Time> ends = connect_rings(ring, arrivals, {us(10), us(10)});
    EXPECT_EQ(ends[0], us(40));
    EXPECT_EQ(ends[1], us(1030));  // the late rank's first endpoint, of the second channel
    EXPECT_EQ(ends[2], us(1040));
    EXPECT_EQ(ends[3], us(1040));
}

TEST(Placement, SaysHowManyMachinesAndTheFullest) {
    Placement placement;
    placement.machine_of = {0, 0, 3, 3, 3, 7};
    EXPECT_EQ(placement.members(), 6U);
    EXPECT_EQ(placement.machines(), 3U);
    EXPECT_EQ(placement.gpus_of_machine(), 3U);
    for (const auto& ring : even_placement(7, 2, 1).rings) {
        std::vector<std::uint32_t> sorted = ring;
        std::sort(sorted.begin(), sorted.end());
        EXPECT_EQ(sorted, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6}));
    }
}

}  // namespace
}  // namespace switchfold::elastic::meeting_test
