// SPDX-License-Identifier: Apache-2.0
#include "interconnect/congestion/congestion.h"

#include "core/kernel/simulation.h"
#include "interconnect/fabric.h"
#include "interconnect/topology_builder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::congestion_test {
namespace {

constexpr std::uint32_t kUnit = 4096;

/// Counts what arrives, by sender.
struct Client : PacketClient {
    Client(Fabric& f, std::uint32_t packet) : fabric(f), id(f.add_client(*this)), unit(packet) {}
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override {
        ++arrived[{packet.tag, rank}];
        const auto from = static_cast<std::uint32_t>(packet.tag >> 32U);
        last[from] = std::max(last[from], visible);
        latest = std::max(latest, visible);
        fabric.values().drop(packet.values);
    }
    std::uint32_t supply(const Packet&, std::uint32_t) override { return 0; }
    void on_departure(std::uint64_t, Time) override {}
    void send(std::uint32_t from, std::uint32_t to, std::uint32_t units) {
        for (std::uint32_t i = 0; i < units; ++i) {
            const std::uint64_t tag = std::uint64_t{from} << 32U | next++;
            fabric.send(
                fabric.connect(from, to), {.payload = unit, .tag = tag, .client = id, .slot = i});
            ++expected[{tag, to}];
        }
    }
    Fabric& fabric;
    std::uint32_t id;
    std::uint32_t unit;
    std::uint32_t next = 0;
    std::map<std::pair<std::uint64_t, std::uint32_t>, int> arrived;
    std::map<std::pair<std::uint64_t, std::uint32_t>, int> expected;
    std::map<std::uint32_t, Time> last;
    Time latest;
};

LinkParams wire(Bandwidth rate, Bytes buffer) {
    LinkParams link;
    link.lane_bandwidth = rate;
    link.latency = nanoseconds(500);
    link.buffer_per_lane = buffer;
    link.format.max_payload = Bytes(kUnit);
    return link;
}

/// Machines of one GPU and one NIC each.
ClusterTopology cluster(std::uint32_t machines, NetworkParams network) {
    SwitchedTopology machine;
    machine.gpus = 1;
    ClusterTopology t;
    t.nodes = machines;
    t.node.value = machine;
    t.nics.gpu_link = wire(gigabytes_per_second(50), kibibytes(64));
    t.nics.link = *t.nics.gpu_link;
    t.network = std::move(network);
    return t;
}

const LinkParams kNetworkWire = wire(gigabytes_per_second(25), mebibytes(1));

ClusterTopology star(std::uint32_t machines) {
    SingleSwitchNetwork network;
    network.link = kNetworkWire;
    return cluster(machines, network);
}

/// Two leaves of two machines each, and as many spines.
ClusterTopology two_leaves(std::uint32_t paths) {
    FatTreeNetwork network;
    network.ports = 4;
    network.paths_per_pair = paths;
    network.link = kNetworkWire;
    network.switch_link = kNetworkWire;
    return cluster(4, network);
}

CongestionParams pausing() {
    CongestionParams params;
    params.pause = PauseParams{kibibytes(512), kibibytes(256)};
    return params;
}

CongestionParams controlled() {
    CongestionParams params = pausing();
    params.dcqcn = DcqcnParams{};
    params.dcqcn->mark_from = kibibytes(100);
    params.dcqcn->mark_all_from = kibibytes(400);
    return params;
}

CongestionParams losing(double share, Recovery recovery) {
    CongestionParams params;
    params.loss = LossParams{share, recovery};
    return params;
}

struct Ran {
    Time end;
    std::map<std::uint32_t, Time> last;
    CongestedLinkStatistics links;  ///< sums, and the highest peak
    FlowStatistics flows;
    bool whole = false;  ///< each packet arrived once, and nothing is left
};

struct Stream {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t units;
};

Ran run(const Topology& topology, const std::vector<Stream>& streams, std::uint32_t unit = kUnit) {
    Simulation simulation;
    Fabric fabric("fabric", topology, simulation.scheduler());
    Client client(fabric, unit);
    for (const Stream& stream : streams)
        client.send(stream.from, stream.to, stream.units);
    simulation.run();
    Ran ran;
    ran.end = client.latest;
    ran.last = client.last;
    ran.whole = client.arrived == client.expected && fabric.blocked().empty();
    for (const auto& link : fabric.links())
        ran.whole = ran.whole && link->outstanding(VirtualChannel::kRequest) == 0;
    if (fabric.congestion() == nullptr)
        return ran;
    for (const auto& [link, counted] : fabric.congestion()->link_statistics()) {
        ran.links.marked += counted.marked;
        ran.links.rerouted += counted.rerouted;
        ran.links.lost += counted.lost;
        ran.links.pauses += counted.pauses;
        ran.links.paused += counted.paused;
        ran.links.peak_queue = std::max(ran.links.peak_queue, counted.peak_queue);
    }
    for (const auto& [name, counted] : fabric.congestion()->flow_statistics()) {
        ran.flows.packets += counted.packets;
        ran.flows.notifications += counted.notifications;
        ran.flows.resent += counted.resent;
        ran.flows.least_share = std::min(ran.flows.least_share, counted.least_share);
    }
    return ran;
}

Topology with(ClusterTopology topology, const CongestionParams& params) {
    topology.congestion = params;
    return topology.build();
}

/// All other machines send to the first.
std::vector<Stream> incast(std::uint32_t machines, std::uint32_t units) {
    std::vector<Stream> streams;
    for (std::uint32_t from = 1; from < machines; ++from)
        streams.push_back({from, 0, units});
    return streams;
}

double wire_seconds(std::uint64_t units) {
    const double bytes = static_cast<double>(units) * (kUnit + 16);
    return bytes / 25e9;
}

TEST(Congestion, AnIncastTakesItsBytesOverOneLinkByCreditsAndByPauses) {
    const double formula = wire_seconds(7 * 2000);
    const Ran credits = run(star(8).build(), incast(8, 2000));
    const Ran pauses = run(with(star(8), pausing()), incast(8, 2000));
    EXPECT_TRUE(credits.whole && pauses.whole);
    EXPECT_NEAR(to_seconds(credits.end) / formula, 1, 0.01);
    EXPECT_NEAR(to_seconds(pauses.end) / formula, 1, 0.01);
    EXPECT_GT(pauses.links.pauses, 0U);
    EXPECT_GT(pauses.links.paused, Time());
}

TEST(Congestion, PausesHoldWhatASenderSendsIntoASlowerLinkWithinTheBuffer) {
    // A packet that finds more before it than all inputs hold would have been lost.
    const Ran pauses = run(with(star(8), pausing()), incast(8, 2000));
    EXPECT_LE(pauses.links.peak_queue, 8 * mebibytes(1).count());
    EXPECT_GT(pauses.links.peak_queue, 6 * kibibytes(512).count());
}

TEST(Congestion, RatesByMarksTakePausesAway) {
    const Ran pauses = run(with(star(8), pausing()), incast(8, 10'000));
    const Ran rates = run(with(star(8), controlled()), incast(8, 10'000));
    EXPECT_TRUE(rates.whole);
    EXPECT_GT(rates.links.marked, 0U);
    EXPECT_GT(rates.flows.notifications, 0U);
    EXPECT_LT(rates.flows.least_share, 0.2);
    EXPECT_LT(rates.links.paused.count(), pauses.links.paused.count() / 10);
}

/// The fixed point of DCQCN's fluid model (Zhu, Ghobadi, Misra and Padhye, "ECN or Delay",
/// CoNEXT 2016): the share of packets marked where `flows` share a link of `packets` a second.
double fluid_mark_share(const DcqcnParams& params, double flows, double packets, double unit) {
    const double rate = packets / flows;
    const double notify = to_seconds(params.notify_every);
    const double timer = to_seconds(params.rate_timer) * rate;  // packets a rise by the timer
    const double bytes = static_cast<double>(params.rate_bytes.count()) / unit;
    const double rise = static_cast<double>(params.additive.count()) / unit;
    const double recoveries = params.recoveries;
    // Of rates that rise more than they fall there are too few marks.
    const auto rises = [&](double p) {
        const double told = 1 - std::pow(1 - p, notify * rate);
        const double by_bytes = p / (std::pow(1 - p, -bytes) - 1);
        const double by_timer = p / (std::pow(1 - p, -timer) - 1);
        const double beyond = by_bytes * std::pow(1 - p, recoveries * bytes) +
                              by_timer * std::pow(1 - p, recoveries * timer);
        const double distance = rise * rate * beyond * notify / told;
        const double congestion = 1 - std::pow(1 - p, to_seconds(params.gain_timer) * rate);
        return distance * (by_bytes + by_timer) > congestion * told / notify;
    };
    double low = 1e-9;
    double high = 0.5;
    for (int i = 0; i < 100; ++i)
        (rises(std::sqrt(low * high)) ? low : high) = std::sqrt(low * high);
    return low;
}

TEST(Congestion, SendersAreToldAsOftenAsTheFluidModelSays) {
    // The machine of the paper: 40 Gb/s, packets of 1 KiB, its parameters.
    constexpr std::uint32_t kPacket = 1024;
    constexpr double kRate = 5e9 / (kPacket + 16);  // packets a second
    for (const std::uint32_t senders : {2U, 8U}) {
        SingleSwitchNetwork network;
        network.link = wire(Bandwidth(5'000'000'000), mebibytes(16));
        network.link.format.max_payload = Bytes(kPacket);
        CongestionParams params;
        params.dcqcn = DcqcnParams{};
        params.dcqcn->mark_from = kibibytes(5);
        params.dcqcn->mark_all_from = kibibytes(200);
        const Topology topology = with(cluster(senders + 1, network), params);
        // Without the first half, in which the rates find each other.
        const std::uint32_t half = 400'000 / senders;
        const Ran first = run(topology, incast(senders + 1, half), kPacket);
        const Ran both = run(topology, incast(senders + 1, 2 * half), kPacket);
        const double seconds = to_seconds(both.end - first.end);
        const double told =
            static_cast<double>(both.flows.notifications - first.flows.notifications);
        const double marks = fluid_mark_share(*params.dcqcn, senders, kRate, kPacket);
        const double interval = to_seconds(params.dcqcn->notify_every);
        const double fluid =
            senders / interval * (1 - std::pow(1 - marks, interval * kRate / senders));
        EXPECT_NEAR(told / seconds / fluid, 1, 0.2) << senders;
        EXPECT_GT(half * senders / kRate, 0.95 * seconds) << senders;  // the link stays busy
    }
}

TEST(Congestion, AStreamBesideAnIncastSuffersFromPausesAndLessUnderRates) {
    // Machine 3 sends to 1 over the uplinks that an incast to 0 from the same leaf fills.
    const std::vector<Stream> streams{
        {2, 0, 20'000}, {3, 0, 20'000}, {1, 0, 20'000}, {3, 1, 4'000}};
    const auto victim = [&](const CongestionParams& params) {
        const Ran ran = run(with(two_leaves(2), params), streams);
        EXPECT_TRUE(ran.whole);
        return ran;
    };
    const Ran pauses = victim(pausing());
    const Ran rates = victim(controlled());
    EXPECT_GT(pauses.links.pauses, 0U);
    EXPECT_LT(rates.links.paused, pauses.links.paused);
}

TEST(Congestion, AdaptiveRoutesGoAroundASlowLink) {
    Topology topology = two_leaves(2).build();
    const auto slow = std::ranges::find_if(topology.edges, [&](const TopologyEdge& edge) {
        return topology.nodes[edge.a].name == "leaf0" && topology.nodes[edge.b].name == "spine0";
    });
    ASSERT_NE(slow, topology.edges.end());
    LinkParams quarter = topology.links[slow->link_class];
    quarter.lane_bandwidth = quarter.lane_bandwidth / 4;
    slow->link_class = static_cast<std::uint32_t>(topology.links.size());
    topology.links.push_back(quarter);
    CongestionParams params;
    topology.congestion = params;
    const Ran fixed = run(topology, {{0, 2, 8'000}, {1, 3, 8'000}});
    params.routing = RoutePolicy::kAdaptive;
    topology.congestion = params;
    const Ran adaptive = run(topology, {{0, 2, 8'000}, {1, 3, 8'000}});
    EXPECT_TRUE(fixed.whole && adaptive.whole);
    // By number, half of the packets take a quarter of a link: twice its rate. By queue, one and a
    // quarter.
    EXPECT_NEAR(to_seconds(fixed.end) / (wire_seconds(16'000) / 0.5), 1, 0.02);
    EXPECT_NEAR(to_seconds(adaptive.end) / (wire_seconds(16'000) / 1.25), 1, 0.03);
    EXPECT_GT(adaptive.links.rerouted, 0U);
    EXPECT_EQ(fixed.links.rerouted, 0U);
}

TEST(Congestion, AdaptiveRoutesChangeNothingWhereNothingWaits) {
    CongestionParams params;
    params.routing = RoutePolicy::kAdaptive;
    const Ran plain = run(two_leaves(2).build(), {{0, 2, 1}});
    const Ran adaptive = run(with(two_leaves(2), params), {{0, 2, 1}});
    EXPECT_EQ(plain.end, adaptive.end);
    EXPECT_EQ(adaptive.links.rerouted, 0U);
}

TEST(Congestion, LostPacketsAreSentAgainAloneOrWithAllThatFollow) {
    // Selective: each packet is sent 1 / (1 - p) times, of two links.
    constexpr double kShare = 0.01;
    constexpr double kOnTheWay = 1 - (1 - kShare) * (1 - kShare);
    const Ran selective =
        run(with(star(2), losing(kShare, Recovery::kSelective)), {{1, 0, 20'000}});
    EXPECT_TRUE(selective.whole);
    EXPECT_NEAR(static_cast<double>(selective.flows.packets) / 20'000, 1 / (1 - kOnTheWay), 0.004);
    EXPECT_NEAR(to_seconds(selective.end) / (wire_seconds(20'000) / (1 - kOnTheWay)), 1, 0.02);
    // Go-back-N: with each loss, a round trip's packets more.
    const Ran back = run(with(star(2), losing(kShare, Recovery::kGoBackN)), {{1, 0, 20'000}});
    EXPECT_TRUE(back.whole);
    EXPECT_GT(back.flows.resent, 5 * selective.flows.resent);
    EXPECT_GT(back.end, selective.end);
}

TEST(Congestion, ALastPacketThatIsLostCostsTheTimeout) {
    CongestionParams params = losing(0.5, Recovery::kSelective);
    params.loss->timeout = microseconds(300);
    bool waited = false;
    for (std::uint32_t seed = 1; seed < 10 && !waited; ++seed) {
        params.seed = seed;
        const Ran ran = run(with(star(2), params), {{1, 0, 1}});
        EXPECT_TRUE(ran.whole);
        waited = ran.end > microseconds(300);
        EXPECT_EQ(waited, ran.flows.resent > 0);
    }
    EXPECT_TRUE(waited);
}

RC_GTEST_PROP(CongestionProperty, WhateverItDoesEachPacketArrivesOnce, ()) {
    const bool tree = *rc::gen::arbitrary<bool>();
    CongestionParams params;
    params.seed = *rc::gen::inRange(1U, 1'000U);
    if (*rc::gen::arbitrary<bool>())
        params.routing = RoutePolicy::kAdaptive;
    if (*rc::gen::arbitrary<bool>())
        params.pause = PauseParams{Bytes(*rc::gen::inRange(4'096U, 500'000U)), Bytes(2'048)};
    if (*rc::gen::arbitrary<bool>()) {
        params.dcqcn = DcqcnParams{};
        params.dcqcn->mark_from = Bytes(*rc::gen::inRange(0U, 100'000U));
        params.dcqcn->mark_all_from = params.dcqcn->mark_from + kibibytes(64);
    }
    if (*rc::gen::arbitrary<bool>()) {
        const bool one_path = !tree && params.routing == RoutePolicy::kStatic;
        params.loss = LossParams{
            *rc::gen::inRange(0, 20) * 0.01,
            one_path && *rc::gen::arbitrary<bool>() ? Recovery::kGoBackN : Recovery::kSelective};
    }
    const ClusterTopology machines = tree ? two_leaves(2) : star(4);
    std::vector<Stream> streams;
    const int count = *rc::gen::inRange(1, 6);
    for (int i = 0; i < count; ++i) {
        const auto from = *rc::gen::inRange(0U, 4U);
        const auto to = (from + *rc::gen::inRange(1U, 4U)) % 4;
        streams.push_back({from, to, *rc::gen::inRange(1U, 400U)});
    }
    RC_ASSERT(run(with(machines, params), streams).whole);
}

TEST(Congestion, RefusesWhatCannotBe) {
    const auto errors = [](const ClusterTopology& topology) {
        ParamChecker checker;
        topology.check(checker);
        std::string all;
        for (const auto& [pointer, message] : checker.found())
            all += pointer + ": " + message + "\n";
        return all;
    };
    ClusterTopology topology = two_leaves(2);
    topology.congestion = pausing();
    EXPECT_EQ(errors(topology), "");
    topology.congestion->pause->from = mebibytes(1);
    EXPECT_NE(errors(topology).find("/congestion/pause/from: is 1048576 B"), std::string::npos);
    topology.congestion = pausing();
    topology.congestion->pause->until = kibibytes(512);
    EXPECT_NE(errors(topology).find("/congestion/pause/until"), std::string::npos);
    topology.congestion = controlled();
    topology.congestion->dcqcn->mark_all_from = kibibytes(100);
    EXPECT_NE(errors(topology).find("/congestion/dcqcn/mark_all_from"), std::string::npos);
    topology.congestion = losing(0.1, Recovery::kGoBackN);
    EXPECT_NE(errors(topology).find("paths_per_pair 1"), std::string::npos);
    topology = two_leaves(1);
    topology.congestion = losing(0.1, Recovery::kGoBackN);
    EXPECT_EQ(errors(topology), "");
}

}  // namespace
}  // namespace switchfold::congestion_test
