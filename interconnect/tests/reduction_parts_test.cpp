// SPDX-License-Identifier: Apache-2.0
// Requests of many lines in tables of few entries.
#include "core/kernel/simulation.h"
#include "interconnect/tests/pusher.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::reduction_parts_test {
namespace {

/// A member that pulls the sum of everybody's buffer, so many packets at a time.
struct Puller : PacketClient {
    Puller(Fabric& f, ElementType type = ElementType::kFloat32) :
        fabric(f), id(f.add_client(*this)) {
        std::vector<std::uint32_t> ranks(f.gpus());
        std::iota(ranks.begin(), ranks.end(), 0U);
        group = fabric.create_group(ranks, type, refused);
    }
    ~Puller() {
        if (group)
            fabric.remove_group(*group);
    }
    Puller(const Puller&) = delete;
    Puller& operator=(const Puller&) = delete;
    Puller(Puller&&) = delete;
    Puller& operator=(Puller&&) = delete;

    void pull(std::uint64_t bytes, std::uint32_t packet, std::uint32_t at_once) {
        all = bytes;
        packet_bytes = packet;
        for (std::uint32_t i = 0; i < at_once; ++i)
            request();
    }
    void request() {
        if (asked == all)
            return;
        const auto bytes =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(packet_bytes, all - asked));
        fabric.send(
            *group, head,
            {.kind = PacketKind::kReduceRequest,
             .payload = bytes,
             .tag = asked,
             .client = id,
             .slot = slots++ * slot_step});
        asked += bytes;
    }
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override {
        EXPECT_EQ(rank, head);
        end = std::max(end, visible);
        if (packet.count == 0) {
            ++failures;
            EXPECT_EQ(packet.values, 0U);
        } else {
            ++answers[packet.tag];
            got += packet.payload;
            check(packet);
        }
        request();
    }
    void check(const Packet& packet) {
        if (!functional)
            return;
        const std::vector<float>& sums = fabric.values().get(packet.values);
        ASSERT_EQ(sums.size(), packet.payload / 4);
        const auto n = static_cast<float>(fabric.gpus());
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const auto element = static_cast<float>(packet.tag / 4 + i);
            ASSERT_EQ(sums[i], n * element + n * (n - 1) / 2);
        }
        fabric.values().drop(packet.values);
    }
    std::uint32_t supply(const Packet& packet, std::uint32_t rank) override {
        if (!functional)
            return 0;
        std::vector<float> own(packet.payload / 4);
        for (std::size_t i = 0; i < own.size(); ++i)
            own[i] = static_cast<float>((packet.tag + fetched_from(packet)) / 4 + i + rank);
        return fabric.values().put(std::move(own));
    }
    void on_departure(std::uint64_t, Time) override {}

    Fabric& fabric;
    std::uint32_t id;
    std::string refused;
    std::unique_ptr<ReductionGroup> group;
    bool functional = false;
    std::uint32_t head = 0;
    std::uint64_t slots = 0;
    std::uint64_t slot_step = 1;
    std::uint64_t all = 0;
    std::uint32_t packet_bytes = 0;
    std::uint64_t asked = 0;
    std::uint64_t got = 0;
    std::uint64_t failures = 0;
    std::map<std::uint64_t, int> answers;
    Time end;
};

RC_GTEST_PROP(ReductionParts, EveryRequestGetsItsSumOnceWhateverFits, ()) {
    ReductionUnitParams unit = any_unit();
    unit.line = Bytes(*rc::gen::element<std::uint64_t>(16, 48, 128, 1024));
    unit.accumulation = *rc::gen::element(Accumulation::kElement, Accumulation::kFloat32);
    Simulation simulation;
    Fabric fabric(
        "fabric", family(*rc::gen::inRange(0, 3), *rc::gen::inRange(2U, 9U), unit),
        simulation.scheduler());
    std::vector<std::unique_ptr<Puller>> pullers;
    const std::uint64_t bytes = *rc::gen::inRange<std::uint64_t>(1, 2000) * 16;
    for (std::uint32_t head = 0; head < 2; ++head) {
        pullers.push_back(std::make_unique<Puller>(fabric));
        pullers.back()->functional = true;
        pullers.back()->head = head;
        pullers.back()->pull(bytes, *rc::gen::inRange(1U, 400U) * 16, *rc::gen::inRange(1U, 12U));
    }
    simulation.run();
    for (const auto& puller : pullers) {
        RC_ASSERT(puller->got == bytes);
        RC_ASSERT(puller->failures == 0U);
        for (const auto& [tag, times] : puller->answers)
            RC_ASSERT(times == 1);
    }
    RC_ASSERT(fabric.values().live() == 0U);
    expect_clean(fabric);
}

/// One switch with links that are fast beside the table.
Topology star(std::uint32_t gpus, const ReductionUnitParams& unit) {
    SwitchedTopology t;
    t.gpus = gpus;
    t.lanes_to_switch = {1};
    t.link.lane_bandwidth = gigabytes_per_second(200);
    t.link.buffer_per_lane = mebibytes(1);
    t.node = reducing(unit);
    return t.build();
}

Time time_of_pull(
    const ReductionUnitParams& unit, std::uint32_t gpus, std::uint64_t bytes,
    std::uint32_t packet) {
    Simulation simulation;
    Fabric fabric("fabric", star(gpus, unit), simulation.scheduler());
    Puller puller(fabric);
    // Enough under way that the table is never idle.
    puller.pull(bytes, packet, static_cast<std::uint32_t>(mebibytes(1).count()) / packet);
    simulation.run();
    EXPECT_EQ(puller.got, bytes);
    return puller.end;
}

TEST(ReductionParts, ATableMovesItsEntriesOnceARoundTripWhateverAPacketIs) {
    constexpr std::uint64_t kSize = 1 << 20;
    constexpr std::uint32_t kGpus = 4;
    for (const std::uint32_t entries : {1U, 3U, 16U, 50U}) {
        ReductionUnitParams unit;
        unit.entries = entries;
        unit.adder_rate = gigabytes_per_second(100'000);  // never the limit
        const SwitchedTopology like;
        // A line is held from its request's arrival until its sum leaves.
        const Time held = like.node.latency + like.link.latency * 2 + unit.latency;
        const double turns =
            static_cast<double>(kSize) / static_cast<double>(unit.line.count() * entries);
        const double closed = turns * to_microseconds(held);
        for (const std::uint32_t packet : {128U, 512U, 2048U})  // a warp asks for 2 KiB at once
            EXPECT_NEAR(to_microseconds(time_of_pull(unit, kGpus, kSize, packet)) / closed, 1, 0.02)
                << entries << " entries, packets of " << packet;
    }
}

RC_GTEST_PROP(ReductionParts, TheTimeOfALongPullDoesNotDependOnItsPackets, ()) {
    ReductionUnitParams unit;
    unit.entries = *rc::gen::inRange(1U, 1025U);
    unit.buffer = Bytes(*rc::gen::inRange<std::uint64_t>(1, 1025) * 128);
    // Slow adders take a packet of one member after that of another, which holds entries longer.
    unit.adder_rate = gigabytes_per_second(100'000);
    const std::uint32_t gpus = *rc::gen::inRange(2U, 17U);
    const std::uint64_t bytes = mebibytes(1).count();
    const Time lines = time_of_pull(unit, gpus, bytes, 128);
    const std::uint32_t packet = 128U << *rc::gen::inRange(1U, 5U);
    const double ratio =
        to_microseconds(time_of_pull(unit, gpus, bytes, packet)) / to_microseconds(lines);
    RC_LOG() << unit.entries << " entries, packets of " << packet << ": " << ratio << "\n";
    // Entries of a packet's lines become free together, and its sum leaves in one go: up to 16
    // lines in a round trip of some 600 ns.
    RC_ASSERT(ratio > 0.98);
    RC_ASSERT(ratio < 1.02);
}

TEST(ReductionParts, AUnitThatFailsOnTheWayEndsEveryRequestAfterOneTimeOut) {
    ReductionUnitParams unit;
    unit.entries = 2;
    unit.timeout = microseconds(50);
    Simulation simulation;
    Fabric fabric("fabric", star(4, unit), simulation.scheduler());
    Puller puller(fabric);
    puller.functional = true;
    puller.pull(8192, 8192, 1);
    struct Fail : EventHandler {
        void on_event(std::uint64_t) override { node->fail_reductions(); }
        Switch* node = nullptr;
    } fail;
    fail.node = fabric.switches().front().get();
    simulation.scheduler().at(microseconds(3), fail, 0);
    simulation.run();
    EXPECT_EQ(puller.failures, 1U);
    EXPECT_EQ(puller.got, 0U);
    EXPECT_GT(puller.end, microseconds(53));
    EXPECT_LT(puller.end, microseconds(60)) << "not one time-out for each of 64 lines";
    EXPECT_EQ(fabric.values().live(), 0U);
    EXPECT_EQ(fabric.switches().front()->stalled_requests(), 0U);
    expect_clean(fabric);
}

TEST(ReductionParts, WhatHasBeenFetchedLeavesTheInputBuffer) {
    ReductionUnitParams unit;
    unit.entries = 4;
    Simulation simulation;
    Fabric fabric("fabric", star(2, unit), simulation.scheduler());
    Puller puller(fabric);
    puller.pull(64 * 128, 64 * 128, 1);
    const Link& uplink = *puller.group->planes.front().uplinks.front();
    std::uint64_t before = UINT64_MAX;
    std::vector<std::uint64_t> held;
    struct Look : EventHandler {
        void on_event(std::uint64_t) override {
            held->push_back(uplink->outstanding(VirtualChannel::kRequest));
        }
        const Link* uplink = nullptr;
        std::vector<std::uint64_t>* held = nullptr;
    } look;
    look.uplink = &uplink;
    look.held = &held;
    for (std::uint64_t us = 1; us < 12; us += 2)
        simulation.scheduler().at(microseconds(us), look, 0);
    simulation.run();
    EXPECT_GT(held.front(), 0U);
    for (const std::uint64_t bytes : held) {
        EXPECT_LE(bytes, before);
        before = bytes;
    }
    EXPECT_EQ(held.back(), 0U);
    EXPECT_LT(held[2], held[0]);
}

}  // namespace
}  // namespace switchfold::reduction_parts_test
