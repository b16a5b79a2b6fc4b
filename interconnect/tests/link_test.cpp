// SPDX-License-Identifier: Apache-2.0
#include "interconnect/link.h"

#include "core/kernel/simulation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace switchfold::link_test {
namespace {

/// Accepts packets and returns their credits after `hold`.
struct Sink : PacketSink {
    explicit Sink(Scheduler& s, Time h = Time()) : scheduler(s), hold(h) {}
    OptionalTime accept(const Packet& packet, Link&) override {
        seen.emplace_back(scheduler.now(), packet);
        return scheduler.now() + hold;
    }
    Scheduler& scheduler;
    Time hold;
    std::vector<std::pair<Time, Packet>> seen;
};

struct Departures : LinkListener {
    void on_departure(std::uint64_t tag, Time when) override { left.emplace_back(tag, when); }
    std::vector<std::pair<std::uint64_t, Time>> left;
};

Packet write(std::uint64_t tag, std::uint32_t payload) {
    Packet packet;
    packet.tag = tag;
    packet.payload = payload;
    return packet;
}

/// Link without headers, so wire bytes equal payload bytes.
LinkParams bare() {
    LinkParams params;
    params.lane_bandwidth = gigabytes_per_second(50);
    params.latency = nanoseconds(500);
    params.format.header_flits = 0;
    params.buffer_per_lane = mebibytes(1);
    return params;
}

std::shared_ptr<LinkKind>
kind(const LinkParams& params, std::uint32_t lanes, LinkContext& context) {
    return std::make_shared<LinkKind>(params, lanes, context);
}

TEST(PacketFormat, CountsHeadersRequestsAndAcknowledgements) {
    PacketFormat format;  // 16 B flits, 1 header flit, 128 B payload
    EXPECT_EQ(format.wire_bytes(PacketKind::kWrite, 128), 144U);
    EXPECT_EQ(format.wire_bytes(PacketKind::kWrite, 4096), 4608U);
    EXPECT_EQ(format.wire_bytes(PacketKind::kWrite, 1), 32U);
    EXPECT_EQ(format.wire_bytes(PacketKind::kWrite, 129), 144U + 32U);
    EXPECT_EQ(format.wire_bytes(PacketKind::kReadRequest, 4096), 32U * 16U);
    EXPECT_EQ(format.wire_bytes(PacketKind::kReduceFetch, 4096), 32U * 32U);
    EXPECT_EQ(format.wire_bytes(PacketKind::kReduceData, 4096), 4608U);
    EXPECT_EQ(format.acknowledge_bytes(PacketKind::kWrite, 4096), 0U);
    EXPECT_EQ(format.acknowledge_bytes(PacketKind::kMulticastWrite, 4096), 512U);
    // Parts share no packet.
    format.max_payload = Bytes(4096);
    EXPECT_EQ(format.wire_bytes(PacketKind::kReduceData, 8192), 8192U + 32U);
    EXPECT_EQ(format.wire_bytes(PacketKind::kReduceData, 8192, 4), 4 * (2048U + 16U));
    EXPECT_EQ(format.wire_bytes(PacketKind::kReduceFetch, 8192, 4), 4 * 32U);
    EXPECT_EQ(format.acknowledge_bytes(PacketKind::kMulticastWrite, 8192, 4), 4 * 16U);
}

TEST(Link, DirectionsThatShareReachTheirDuplexTogether) {
    LinkParams params = bare();
    params.duplex = 0.8;
    constexpr std::uint32_t kPiece = 500'000;
    constexpr int kPieces = 100;
    const double alone = kPieces * kPiece / 50e9;
    for (const bool both : {false, true}) {
        Simulation simulation;
        LinkContext context{simulation.scheduler(), {nullptr, nullptr}, {}};
        Link there("there", kind(params, 1, context), 0);
        Link back("back", kind(params, 1, context), 1);
        there.set_reverse(back);
        back.set_reverse(there);
        for (int i = 0; i < kPieces; ++i) {
            there.carry(kPiece, kPiece);
            if (both)
                back.carry(kPiece, kPiece);
        }
        EXPECT_NEAR(to_seconds(there.busy_until()), both ? alone / 0.8 : alone, alone / 100);
        EXPECT_EQ(back.statistics().wire_bytes, both ? std::uint64_t{kPieces} * kPiece : 0U);
    }
}

TEST(Link, DeliversAfterSerialisationAndLatency) {
    Simulation simulation;
    LinkContext context{simulation.scheduler(), {nullptr, nullptr}, {}};
    Link link("link", kind(bare(), 1, context), 0);
    Sink sink(simulation.scheduler());
    link.bind(sink, 0, false);
    EXPECT_EQ(*link.send(write(7, 4096), Time()), picoseconds(81'920));
    simulation.run();
    ASSERT_EQ(sink.seen.size(), 1U);
    EXPECT_EQ(sink.seen[0].first, picoseconds(81'920 + 500'000));
    EXPECT_EQ(sink.seen[0].second.tag, 7U);
}

TEST(Link, ASwitchSeesTheHeadFirst) {
    Simulation simulation;
    LinkContext context{simulation.scheduler(), {nullptr, nullptr}, {}};
    Link link("link", kind(bare(), 1, context), 0);
    Sink sink(simulation.scheduler());
    link.bind(sink, 0, true);
    link.send(write(0, 4096), Time());
    simulation.run();
    EXPECT_EQ(sink.seen[0].first, picoseconds(128 * 20 + 500'000));
    EXPECT_EQ(sink.seen[0].second.tail, 81'920U + 500'000U);
}

TEST(Link, RoundingDoesNotAccumulate) {
    LinkParams params = bare();
    params.lane_bandwidth = gigabytes_per_second(450);
    Simulation simulation;
    LinkContext context{simulation.scheduler(), {nullptr, nullptr}, {}};
    Link link("link", kind(params, 1, context), 0);
    Sink sink(simulation.scheduler());
    link.bind(sink, 0, false);
    Time end;
    for (std::uint32_t i = 0; i < 4500; ++i)
        end = *link.send(write(i, 32), Time());
    EXPECT_NEAR(static_cast<double>(end.count()), 320'000.0, 1.0);
    simulation.run();
}

TEST(Link, EfficiencyAndLanesScaleTheRate) {
    LinkParams params = bare();
    params.efficiency_ppm = 500'000;
    Simulation simulation;
    LinkContext context{simulation.scheduler(), {nullptr, nullptr}, {}};
    Link link("link", kind(params, 4, context), 0);
    EXPECT_EQ(link.bandwidth(), gigabytes_per_second(100));
}

TEST(Link, OverheadTakesWireTime) {
    Simulation simulation;
    LinkContext context{simulation.scheduler(), {nullptr, nullptr}, {}};
    Link link("link", kind(bare(), 1, context), 0);
    Sink sink(simulation.scheduler());
    link.bind(sink, 0, false);
    link.add_overhead(1024);
    EXPECT_EQ(*link.send(write(0, 1024), Time()), picoseconds(40'960));
    simulation.run();
}

Packet answer(std::uint64_t tag, std::uint32_t payload) {
    Packet packet = write(tag, payload);
    packet.kind = PacketKind::kReduceData;
    return packet;
}

std::vector<std::uint64_t> tags(const Sink& sink) {
    std::vector<std::uint64_t> all;
    for (const auto& [time, packet] : sink.seen)
        all.push_back(packet.tag);
    return all;
}

constexpr std::uint32_t kPayload = 1600;  // 32 ns on the wire

/// Sends a store of its own at a time.
struct Store : EventHandler {
    Store(Scheduler& scheduler, Link& l, Time at) : link(l), when(at) {
        scheduler.at(at, *this, 0);
    }
    void on_event(std::uint64_t) override { link.send(write(1000, kPayload), when); }
    Link& link;
    Time when;
};

TEST(Link, AnswersAndStoresTakeTurns) {
    Simulation simulation;
    LinkContext context{simulation.scheduler(), {nullptr, nullptr}, {}};
    Link link("link", kind(bare(), 1, context), 0);
    Sink sink(simulation.scheduler());
    link.bind(sink, 0, false);
    for (std::uint64_t i = 0; i < 6; ++i)
        link.answer(answer(i, kPayload), Time());
    for (std::uint64_t i = 0; i < 4; ++i)
        link.send(write(100 + i, kPayload), Time());
    simulation.run();
    EXPECT_EQ(tags(sink), (std::vector<std::uint64_t>{0, 100, 1, 101, 2, 102, 3, 103, 4, 5}));
    // The wire is never idle between them.
    EXPECT_EQ(sink.seen.back().first, nanoseconds(10 * 32 + 500));
    EXPECT_EQ(link.outstanding(VirtualChannel::kResponse), 0U);
    EXPECT_EQ(link.outstanding(VirtualChannel::kRequest), 0U);
}

TEST(Link, AStoreDoesNotWaitForAllThatOthersAskedFor) {
    Simulation simulation;
    LinkContext context{simulation.scheduler(), {nullptr, nullptr}, {}};
    Link link("link", kind(bare(), 1, context), 0);
    Sink sink(simulation.scheduler());
    link.bind(sink, 0, false);
    for (std::uint64_t i = 0; i < 100; ++i)
        link.answer(answer(i, kPayload), Time());
    // On the wire is the sixth answer.
    const Store store(simulation.scheduler(), link, nanoseconds(170));
    simulation.run();
    ASSERT_EQ(sink.seen.size(), 101U);
    EXPECT_EQ(sink.seen[6].second.tag, 1000U);
    EXPECT_EQ(sink.seen.back().first, nanoseconds(101 * 32 + 500));
}

TEST(Link, AnswersLeaveNoEarlierThanTheyAreReady) {
    Simulation simulation;
    LinkContext context{simulation.scheduler(), {nullptr, nullptr}, {}};
    Link link("link", kind(bare(), 1, context), 0);
    Sink sink(simulation.scheduler());
    link.bind(sink, 0, false);
    link.answer(answer(0, kPayload), nanoseconds(300));
    link.answer(answer(1, kPayload), nanoseconds(310));
    link.answer(answer(2, kPayload), nanoseconds(900));
    link.send(write(100, kPayload), Time());
    simulation.run();
    EXPECT_EQ(tags(sink), (std::vector<std::uint64_t>{100, 0, 1, 2}));
    EXPECT_EQ(sink.seen[1].first, nanoseconds(300 + 32 + 500));
    EXPECT_EQ(sink.seen[2].first, nanoseconds(300 + 64 + 500));
    EXPECT_EQ(sink.seen[3].first, nanoseconds(900 + 32 + 500));
}

RC_GTEST_PROP(LinkProperty, AnswersBesideStoresLoseNothing, ()) {
    LinkParams params = bare();
    params.buffer_per_lane = Bytes(*rc::gen::inRange<std::uint64_t>(256, 20'000));
    const auto sizes = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(1U, 5000U));
    const Time hold = nanoseconds(*rc::gen::inRange<std::uint64_t>(0, 3000));
    Simulation simulation;
    LinkContext context{simulation.scheduler(), {nullptr, nullptr}, {}};
    Link link("link", kind(params, 1, context), 0);
    Sink sink(simulation.scheduler(), hold);
    link.bind(sink, 0, false);
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        if (i % 3 == 0)
            link.send(write(i, sizes[i]), Time());
        else
            link.answer(answer(i, sizes[i]), nanoseconds(i));
        total += params.format.wire_bytes(PacketKind::kWrite, sizes[i]);
    }
    simulation.run();
    RC_ASSERT(sink.seen.size() == sizes.size());
    // Each virtual channel keeps its order.
    std::vector<std::uint64_t> stores;
    std::vector<std::uint64_t> answers;
    for (const std::uint64_t tag : tags(sink))
        (tag % 3 == 0 ? stores : answers).push_back(tag);
    RC_ASSERT(std::is_sorted(stores.begin(), stores.end()));
    RC_ASSERT(std::is_sorted(answers.begin(), answers.end()));
    RC_ASSERT(link.outstanding(VirtualChannel::kRequest) == 0U);
    RC_ASSERT(link.outstanding(VirtualChannel::kResponse) == 0U);
    RC_ASSERT(link.waiting() == 0U);
    if (!sizes.empty()) {
        const Time least = serialization_time(Bytes(total), params.lane_bandwidth) + params.latency;
        RC_ASSERT(sink.seen.back().first + Time(1) >= least);
    }
}

RC_GTEST_PROP(LinkProperty, LosesNothingKeepsOrderConservesCredits, ()) {
    LinkParams params = bare();
    params.buffer_per_lane = Bytes(*rc::gen::inRange<std::uint64_t>(256, 20'000));
    const auto sizes = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(1U, 5000U));
    const Time hold = nanoseconds(*rc::gen::inRange<std::uint64_t>(0, 3000));
    Simulation simulation;
    LinkContext context{simulation.scheduler(), {nullptr, nullptr}, {}};
    Link link("link", kind(params, 1, context), 0);
    Sink sink(simulation.scheduler(), hold);
    Departures departures;
    link.bind(sink, 0, false);
    std::uint64_t total = 0;
    std::size_t at_once = 0;
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        at_once += link.send(write(i, sizes[i]), Time(), nullptr, &departures) ? 1 : 0;
        total += params.format.wire_bytes(PacketKind::kWrite, sizes[i]);
    }
    simulation.run();
    RC_ASSERT(sink.seen.size() == sizes.size());
    RC_ASSERT(departures.left.size() + at_once == sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        RC_ASSERT(sink.seen[i].second.tag == i);
        RC_ASSERT(sink.seen[i].second.payload == sizes[i]);
    }
    RC_ASSERT(link.outstanding(VirtualChannel::kRequest) == 0U);
    RC_ASSERT(link.outstanding(VirtualChannel::kResponse) == 0U);
    RC_ASSERT(link.waiting() == 0U);
    if (!sizes.empty()) {
        // Never faster than the wire.
        const Time least = serialization_time(Bytes(total), params.lane_bandwidth) + params.latency;
        RC_ASSERT(sink.seen.back().first + Time(1) >= least);
    }
}

RC_GTEST_PROP(LinkProperty, MoreBandwidthIsNeverSlower, ()) {
    const auto sizes = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(1U, 5000U)));
    const auto slow = *rc::gen::inRange<std::uint64_t>(1, 100);
    const auto more = *rc::gen::inRange<std::uint64_t>(0, 100);
    const auto finish = [&](std::uint64_t rate) {
        LinkParams params = bare();
        params.lane_bandwidth = gigabytes_per_second(rate);
        params.buffer_per_lane = kibibytes(8);
        Simulation simulation;
        LinkContext context{simulation.scheduler(), {nullptr, nullptr}, {}};
        Link link("link", kind(params, 1, context), 0);
        Sink sink(simulation.scheduler());
        link.bind(sink, 0, false);
        for (std::uint32_t i = 0; i < sizes.size(); ++i)
            link.send(write(i, sizes[i]), Time());
        return simulation.run();
    };
    RC_ASSERT(finish(slow + more) <= finish(slow));
}

}  // namespace
}  // namespace switchfold::link_test
