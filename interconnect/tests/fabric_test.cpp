// SPDX-License-Identifier: Apache-2.0
#include "interconnect/fabric.h"

#include "core/error.h"
#include "core/kernel/simulation.h"
#include "interconnect/topology_builder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>

namespace switchfold::fabric_test {
namespace {

struct Client : PacketClient {
    explicit Client(Fabric& f) : fabric(f), id(f.add_client(*this)) {}
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override {
        ++arrived[{packet.tag, rank}];
        kinds[packet.kind] += packet.payload;
        last = std::max(last, visible);
        fabric.values().drop(packet.values);
    }
    std::uint32_t supply(const Packet&, std::uint32_t) override { return 0; }
    void on_departure(std::uint64_t, Time) override {}
    Fabric& fabric;
    std::uint32_t id;
    std::map<std::pair<std::uint64_t, std::uint32_t>, int> arrived;
    std::map<PacketKind, std::uint64_t> kinds;
    Time last;
};

SwitchedTopology star(std::uint32_t gpus, std::vector<std::uint32_t> lanes) {
    SwitchedTopology t;
    t.gpus = gpus;
    t.lanes_to_switch = std::move(lanes);
    t.node.multicast = true;
    t.node.reduction = ReductionUnitParams{};
    return t;
}

DirectTopology pair() {
    DirectTopology t;
    t.gpus = 2;
    t.edges = {{0, 1, 2}};
    return t;
}

/// Machines without peer-to-peer PCIe: all traffic of a GPU goes through host memory. The link
/// buffers are small, so credits limit the traffic.
ClusterTopology through_host_memory() {
    LinkParams link;
    link.buffer_per_lane = kibibytes(2);
    PcieTopology machine;
    machine.gpus = 2;
    machine.peer_to_peer = false;
    machine.gpu_link = link;
    machine.memory_link = link;
    ClusterTopology cluster;
    cluster.nodes = 3;
    cluster.node.value = machine;
    cluster.nics.count = 1;
    cluster.nics.link = link;
    SingleSwitchNetwork network;
    network.link = link;
    cluster.network = network;
    return cluster;
}

Topology family(int index) {
    switch (index) {
    case 4:
        return through_host_memory().build();
    case 0:
        return star(8, {5, 4, 4, 5}).build();
    case 1:
        return star(3, {1}).build();
    case 2: {
        SwitchedTopology t = star(5, {2, 2});
        t.link.buffer_per_lane = kibibytes(2);  // credits limit the rate
        return t.build();
    }
    default:
        return pair().build();
    }
}

RC_GTEST_PROP(FabricProperty, RandomTrafficArrivesOnceAtTheRightPlace, ()) {
    const Topology topology = family(*rc::gen::inRange(0, 5));
    Simulation simulation;
    Fabric fabric("fabric", topology, simulation.scheduler());
    Client client(fabric);
    const std::uint32_t gpus = fabric.gpus();
    const int count = *rc::gen::inRange(0, 300);
    std::map<std::pair<std::uint64_t, std::uint32_t>, int> expected;
    for (int i = 0; i < count; ++i) {
        const std::uint32_t from = *rc::gen::inRange(0U, gpus);
        const std::uint32_t to = (from + 1 + *rc::gen::inRange(0U, gpus - 1)) % gpus;
        const bool read = *rc::gen::arbitrary<bool>();
        const auto tag = static_cast<std::uint64_t>(i);
        fabric.send(
            fabric.connect(from, to), {.kind = read ? PacketKind::kReadRequest : PacketKind::kWrite,
                                       .payload = *rc::gen::inRange(1U, 8192U),
                                       .tag = tag,
                                       .client = client.id,
                                       .slot = tag});
        ++expected[{tag, read ? from : to}];  // the response returns to the requester
    }
    simulation.run();
    RC_ASSERT(client.arrived == expected);
    for (const auto& link : fabric.links()) {
        RC_ASSERT(link->outstanding(VirtualChannel::kRequest) == 0U);
        RC_ASSERT(link->outstanding(VirtualChannel::kResponse) == 0U);
    }
    RC_ASSERT(fabric.blocked().empty());
}

TEST(Fabric, HostMemoryTakesWhatComesInWhateverWaitsToLeaveIt) {
    // Traffic out of a machine and traffic into it share the links to and from its memory. If
    // memory acted as a switch, each direction would wait for the other's credits.
    Simulation simulation;
    Fabric fabric("fabric", through_host_memory().build(), simulation.scheduler());
    Client client(fabric);
    std::size_t sent = 0;
    for (std::uint64_t round = 0; round < 100; ++round)
        for (std::uint32_t from = 0; from < fabric.gpus(); ++from)
            for (std::uint32_t to = 0; to < fabric.gpus(); ++to) {
                if (from == to)
                    continue;
                const std::uint64_t tag = sent++;
                fabric.send(
                    fabric.connect(from, to),
                    {.payload = 4096, .tag = tag, .client = client.id, .slot = tag});
            }
    simulation.run();
    EXPECT_EQ(client.arrived.size(), sent);
    EXPECT_TRUE(fabric.blocked().empty());
}

RC_GTEST_PROP(FabricProperty, ReductionsAnswerAndMulticastsReachEveryMember, ()) {
    SwitchedTopology t = star(*rc::gen::inRange(2U, 7U), {2, 1});
    t.node.reduction->entries = *rc::gen::inRange(1U, 64U);  // small tables make units stall
    t.node.reduction->buffer = Bytes(*rc::gen::inRange<std::uint64_t>(128, 8192));
    Simulation simulation;
    Fabric fabric("fabric", t.build(), simulation.scheduler());
    Client client(fabric);
    std::vector<std::uint32_t> ranks(fabric.gpus());
    for (std::uint32_t i = 0; i < ranks.size(); ++i)
        ranks[i] = i;
    std::string refused;
    const auto group = fabric.create_group(ranks, ElementType::kFloat32, refused);
    std::map<std::pair<std::uint64_t, std::uint32_t>, int> expected;
    const std::uint64_t count = *rc::gen::inRange<std::uint64_t>(0, 80);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint32_t member = *rc::gen::inRange(0U, fabric.gpus());
        const bool reduce = *rc::gen::arbitrary<bool>();
        fabric.send(
            *group, member,
            {.kind = reduce ? PacketKind::kReduceRequest : PacketKind::kMulticastWrite,
             .payload = *rc::gen::inRange(1U, 4096U),
             .tag = i,
             .client = client.id,
             .slot = i});
        if (reduce)
            ++expected[{i, member}];
        else
            for (const std::uint32_t rank : ranks)
                ++expected[{i, rank}];
    }
    simulation.run();
    RC_ASSERT(client.arrived == expected);
    for (const auto& node : fabric.switches())
        for (std::size_t port = 0; port < node->incoming().size(); ++port)
            RC_ASSERT(node->unit(port)->entries_used() == 0U);
    for (const auto& link : fabric.links())
        RC_ASSERT(
            link->outstanding(VirtualChannel::kRequest) + link->outstanding(VirtualChannel::kDown) +
                link->outstanding(VirtualChannel::kResponse) ==
            0U);
}

/// Result of a run in which member 0 of a domain (folded) or every member pulls and stores `count`
/// units. Member h starts `h` stripes further on.
struct DomainRun {
    std::uint64_t into_rank = 0;  ///< wire bytes on rank 0's links
    std::uint64_t out_of_rank = 0;
    std::uint64_t reductions = 0;
    Time end;
};
DomainRun domain_run(std::uint32_t gpus, std::uint32_t count, bool folded) {
    SwitchedTopology t = star(gpus, {2, 2, 2});
    t.node.reduction->max_members = 128;
    Simulation simulation;
    Fabric fabric("fabric", t.build(), simulation.scheduler());
    Client client(fabric);
    std::vector<std::uint32_t> ranks(gpus);
    std::iota(ranks.begin(), ranks.end(), 0U);
    std::string refused;
    const auto group = folded ? fabric.create_folded_group(0, ranks, ElementType::kFloat32, refused)
                              : fabric.create_group(ranks, ElementType::kFloat32, refused);
    for (std::uint32_t unit = 0; unit < count; ++unit)
        for (std::uint32_t member = 0; member < (folded ? 1 : gpus); ++member)
            for (const PacketKind kind : {PacketKind::kReduceRequest, PacketKind::kMulticastWrite})
                fabric.send(
                    *group, member,
                    {.kind = kind,
                     .payload = 2048,
                     .tag = unit,
                     .client = client.id,
                     .slot = std::uint64_t{member} + unit});
    DomainRun run;
    run.end = simulation.run();
    for (std::uint32_t hop = 0; hop < fabric.links().size(); ++hop) {
        const std::uint64_t bytes = fabric.links()[hop]->statistics().wire_bytes;
        const TopologyEdge& edge = fabric.topology().edges[edge_of(hop)];
        if (edge.a == 0 || edge.b == 0)
            (fabric.topology().end_of(hop) == 0 ? run.into_rank : run.out_of_rank) += bytes;
    }
    for (const auto& node : fabric.switches())
        for (std::size_t port = 0; port < node->incoming().size(); ++port) {
            EXPECT_EQ(node->unit(port)->entries_used(), 0U);
            run.reductions += node->unit(port)->statistics().reductions;
        }
    EXPECT_TRUE(fabric.blocked().empty());
    fabric.remove_group(*group);
    return run;
}

TEST(Fabric, OneRankOfAFoldedGroupCarriesWhatEveryRankOfAWholeOneDoes) {
    for (const std::uint32_t gpus : {4U, 9U, 36U}) {
        const DomainRun whole = domain_run(gpus, 60, false);
        const DomainRun folded = domain_run(gpus, 60, true);
        EXPECT_EQ(folded.into_rank, whole.into_rank) << gpus;
        EXPECT_EQ(folded.out_of_rank, whole.out_of_rank) << gpus;
        EXPECT_EQ(folded.reductions * gpus, whole.reductions) << gpus;
        // Tolerance for the uneven start and end of each plane's burst of 60 units: 1 % of it.
        EXPECT_NEAR(to_seconds(folded.end) / to_seconds(whole.end), 1, 0.015) << gpus;
    }
}

/// Payload bytes per second of a one-way stream from GPU 0 to GPU 1.
double stream(const Topology& topology, PacketKind kind) {
    Simulation simulation;
    Fabric fabric("fabric", topology, simulation.scheduler());
    Client client(fabric);
    constexpr std::uint64_t kUnits = 20'000;
    for (std::uint64_t i = 0; i < kUnits; ++i)
        fabric.send(
            fabric.connect(0, 1),
            {.kind = kind, .payload = 4096, .tag = i, .client = client.id, .slot = i});
    simulation.run();
    return static_cast<double>(kUnits * 4096) / to_seconds(client.last);
}

TEST(FabricAcceptance, StreamsReachTheFormulaOnEveryTopology) {
    for (int index = 0; index < 4; ++index) {
        const Topology topology = family(index);
        std::uint64_t lanes = 0;
        for (const TopologyEdge& edge : topology.edges)
            if (edge.a == 0 && edge.link_class == 0)
                lanes += edge.lanes;
        const double wire = static_cast<double>(topology.links[0].lane_bandwidth.count() * lanes);
        const double formula = wire * 128 / 144;
        const double reached = stream(topology, PacketKind::kWrite);
        EXPECT_LE(reached, formula * 1.0001) << index;
        if (index == 2) {
            // The buffer holds one unit, so each of the two links sends one unit per round trip:
            // two link latencies, the switch latency and the unit's time on the wire.
            const double loop = 2 * to_seconds(topology.links[0].latency) +
                                to_seconds(topology.switches[0].latency) + 4608 / 50e9;
            EXPECT_NEAR(reached / (2 * 4096 / loop), 1.0, 0.15);
        } else {
            EXPECT_GE(reached, formula * 0.98) << index;
        }
    }
}

TEST(FabricAcceptance, UnloadedLatencyIsTheSumOfTheWay) {
    const SwitchedTopology t = star(2, {1});
    Simulation simulation;
    Fabric fabric("fabric", t.build(), simulation.scheduler());
    Client client(fabric);
    fabric.send(fabric.connect(0, 1), {.payload = 128, .client = client.id});
    simulation.run();
    // The switch stores a whole link packet before it forwards it: two link latencies, the switch
    // latency and twice the serialization time.
    EXPECT_EQ(
        client.last, t.link.latency * 2 + t.node.latency +
                         serialization_time(Bytes(144), t.link.lane_bandwidth) * 2);
}

TEST(FabricAcceptance, ALongTrainIsForwardedWhileItComesIn) {
    const SwitchedTopology t = star(2, {1});
    Simulation simulation;
    Fabric fabric("fabric", t.build(), simulation.scheduler());
    Client client(fabric);
    fabric.send(fabric.connect(0, 1), {.payload = 65'536, .client = client.id});
    simulation.run();
    const Time wire = serialization_time(Bytes(65'536 / 128 * 144), t.link.lane_bandwidth);
    const Time first = serialization_time(Bytes(144), t.link.lane_bandwidth);
    EXPECT_EQ(client.last, t.link.latency * 2 + t.node.latency + wire + first);
}

TEST(FabricAcceptance, TwoSendersToOneShareItsLinkFairly) {
    const SwitchedTopology t = star(3, {1});
    Simulation simulation;
    Fabric fabric("fabric", t.build(), simulation.scheduler());
    Client client(fabric);
    for (std::uint64_t i = 0; i < 2000; ++i)
        for (const std::uint32_t from : {0U, 1U})
            fabric.send(
                fabric.connect(from, 2),
                {.payload = 4096, .tag = from, .client = client.id, .slot = i});
    simulation.run();
    const double rate = 2 * 2000 * 4096.0 / to_seconds(client.last);
    EXPECT_NEAR(rate / (25e9 * 128 / 144), 1.0, 0.02);
}

/// Asks GPU 1 for data on behalf of GPU 0 as soon as GPU 2 has received a first piece from GPU 0.
struct Asking final : Client {
    using Client::Client;
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override {
        Client::on_packet(packet, rank, visible);
        if (rank == 0)
            answered = visible;
        if (rank != 2 || asked > Time())
            return;
        asked = visible;
        fabric.send(
            fabric.connect(0, 1),
            {.kind = PacketKind::kReadRequest, .payload = 4096, .tag = 1, .client = id});
    }
    Time asked;
    Time answered;
};

TEST(Fabric, WhatAGpuAsksForDoesNotWaitBehindWhatItIsAskedFor) {
    const SwitchedTopology t = star(3, {1});
    Simulation simulation;
    Fabric fabric("fabric", t.build(), simulation.scheduler());
    Asking client(fabric);
    constexpr std::uint64_t kPieces = 256;
    for (std::uint64_t i = 0; i < kPieces; ++i)
        fabric.send(
            fabric.connect(2, 0),
            {.kind = PacketKind::kReadRequest, .payload = 4096, .client = client.id, .slot = i});
    simulation.run();
    ASSERT_GT(client.asked, Time());
    const Time piece = serialization_time(Bytes(4096 / 128 * 144), t.link.lane_bandwidth);
    const Time way = t.link.latency * 2 + t.node.latency;
    // There and back, the piece itself, and the two pieces of GPU 0 at most that are under way.
    EXPECT_LT(client.answered - client.asked, way * 2 + piece * 4);
    // All others take as long as the wire needs for them.
    EXPECT_GT(client.last - client.asked, piece * (kPieces - 2));
}

TEST(Fabric, RefusesWhatCannotBe) {
    Topology apart;
    apart.nodes = {{NodeKind::kGpu, "gpu0", 0}, {NodeKind::kGpu, "gpu1", 0}};
    Simulation simulation;
    Fabric fabric("fabric", apart, simulation.scheduler());
    EXPECT_THROW(fabric.connect(0, 1), SimulationError);
}

TEST(Fabric, GroupsRunOutAndComeBack) {
    SwitchedTopology t = star(2, {1});
    t.node.reduction->max_groups = 1;
    Simulation simulation;
    Fabric fabric("fabric", t.build(), simulation.scheduler());
    const std::vector<std::uint32_t> ranks{0, 1};
    std::string refused;
    const auto first = fabric.create_group(ranks, ElementType::kFloat32, refused);
    EXPECT_EQ(refused, "");
    EXPECT_EQ(fabric.create_group(ranks, ElementType::kFloat32, refused), nullptr);
    EXPECT_EQ(refused, "switch0 has no multicast group left of its 1");
    fabric.remove_group(*first);
    EXPECT_NE(fabric.create_group(ranks, ElementType::kFloat32, refused), nullptr);
}

TEST(ReductionUnit, StallsWhenFullAndCountsAnswers) {
    ReductionUnitParams params;
    params.entries = 2;
    params.line = Bytes(128);
    ReductionUnit unit(params, 1);
    Packet request;
    request.payload = 256;
    Packet answer = request;
    answer.count = 1;
    const auto line = unit.open(request, TreeRole::kRoot, 2, 1);
    ASSERT_TRUE(line);
    EXPECT_FALSE(unit.open(request, TreeRole::kRoot, 2, 1));
    EXPECT_FALSE(unit.add(*line, answer, nanoseconds(100)));
    const auto ready = unit.add(*line, answer, nanoseconds(100));
    ASSERT_TRUE(ready);
    // Two answers of 256 B through a 25 GB/s adder, then its latency.
    EXPECT_EQ(ready->last, nanoseconds(100) + picoseconds(20'480) + params.latency);
    EXPECT_THROW(unit.add(*line, answer, nanoseconds(100)), InternalError);
    unit.close(*line, true);
    EXPECT_TRUE(unit.open(request, TreeRole::kRoot, 2, 1));
}

TEST(ReductionUnit, AddsLineByLineAsOperandsStreamIn) {
    ReductionUnitParams params;
    params.latency = nanoseconds(50);
    params.adder_rate = Bandwidth(128'000'000'000);  // one line per nanosecond
    ReductionUnit unit(params, 1);
    Packet request;
    request.payload = 1280;
    Packet answer = request;
    answer.count = 1;
    answer.tail = nanoseconds(120).count();  // head at 100 ns; the wire is slower than the adder
    const auto line = unit.open(request, TreeRole::kRoot, 2, 1);
    ASSERT_TRUE(line);
    EXPECT_FALSE(unit.add(*line, answer, nanoseconds(100)));
    const auto ready = unit.add(*line, answer, nanoseconds(100));
    ASSERT_TRUE(ready);
    // The first operand occupies the adder for 10 ns. The second operand's first line follows at
    // once; its last line is added one line time after the tail arrives.
    EXPECT_EQ(ready->first, nanoseconds(111) + params.latency);
    EXPECT_EQ(ready->last, nanoseconds(121) + params.latency);
}

/// Processor seconds to destroy a fabric of 16 links per GPU: the least of three runs.
double seconds_to_go(std::uint32_t gpus) {
    SwitchedTopology t;
    t.gpus = gpus;
    t.lanes_to_switch.assign(8, 1);
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {
        Simulation simulation;
        auto fabric = std::make_unique<Fabric>("fabric", t.build(), simulation.scheduler());
        EXPECT_EQ(fabric->links().size(), 16U * gpus);
        const std::clock_t start = std::clock();
        fabric.reset();
        least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return least;
}

TEST(Fabric, GoesInTheTimeThatItsLinksNeedEach) {
    // 16 times as many links. If the removal of each link searched all modules, it would take over
    // 1,000 times as long.
    EXPECT_LT(seconds_to_go(4096), 300 * seconds_to_go(256));
}

}  // namespace
}  // namespace switchfold::fabric_test
