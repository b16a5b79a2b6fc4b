// SPDX-License-Identifier: Apache-2.0
// Reduce-scatters and all-gathers by the stores of tiles to the switch.
#include "core/error.h"
#include "interconnect/fault_injector.h"
#include "models/collectives/functional.h"
#include "models/collectives/library.h"
#include "models/tests/reducing_machines.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace switchfold::tile_stores_test {
namespace {

CollectivePolicies stores() {
    CollectivePolicy policy;
    policy.algorithm = Algorithm::kInSwitch;
    policy.kernels = Kernels::kStores;
    CollectivePolicies policies;
    policies.reduce_scatter = policies.all_gather = policy;
    return policies;
}

std::uint64_t payload_of(const TestMachine& machine, const std::string& words) {
    std::uint64_t bytes = 0;
    for (const auto& link : machine.fabric.links())
        if (std::string(link->name()).find(words) != std::string::npos)
            bytes += link->statistics().payload_bytes;
    return bytes;
}

ReductionUnitStatistics counted(const TestMachine& machine) {
    ReductionUnitStatistics all;
    for (const auto& node : machine.fabric.switches())
        for (std::size_t port = 0; port < node->incoming().size(); ++port)
            if (const ReductionUnit* unit = node->unit(port)) {
                all.stalled_requests += unit->statistics().stalled_requests;
                all.evictions += unit->statistics().evictions;
                all.timeouts += unit->statistics().timeouts;
                all.peak_entries = std::max(all.peak_entries, unit->statistics().peak_entries);
            }
    return all;
}

/// Whatever the tables and however late a member is, each has the sums of its share, or all shares.
RC_GTEST_PROP(TileStoresProperty, EveryShareIsRightWhateverTheTablesHold, ()) {
    ReductionUnitParams unit;
    unit.entries = *rc::gen::inRange(1U, 64U);
    unit.buffer = Bytes(*rc::gen::inRange<std::uint64_t>(128, 65'536));
    unit.when_full = *rc::gen::element(WhenFull::kStall, WhenFull::kEvict);
    unit.timeout = nanoseconds(*rc::gen::inRange<std::uint64_t>(500, 20'000));
    unit.accumulation = *rc::gen::element(Accumulation::kElement, Accumulation::kFloat32);
    const auto kind = *rc::gen::element(CollectiveKind::kReduceScatter, CollectiveKind::kAllGather);
    const auto type =
        *rc::gen::element(Datatype::kFloat32, Datatype::kFloat16, Datatype::kBfloat16);
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(std::uint64_t{128} << *rc::gen::inRange(0U, 6U));
    const Topology topology = machine_with(unit, *rc::gen::arbitrary<bool>());
    TestMachine machine(topology, params, stores(), 1);
    const std::uint64_t n = machine.fabric.gpus();
    const std::uint64_t bytes = *rc::gen::inRange<std::uint64_t>(1, 6'000) * 16 * n;
    std::vector<FaultParams> faults;
    if (*rc::gen::arbitrary<bool>()) {
        const TopologyEdge& edge =
            topology.edges[*rc::gen::inRange<std::size_t>(0, topology.edges.size())];
        const std::string link = topology.nodes[edge.a].name + "_to_" + topology.nodes[edge.b].name;
        if (*rc::gen::arbitrary<bool>())
            faults.push_back(LinkDegradedFault{link, *rc::gen::inRange(10'000U, 900'000U), Time()});
        else
            faults.push_back(BitErrorsFault{link, 1e-5, Time()});
    }
    const FaultInjector injector(machine.fabric, faults, 7);
    machine.run(operation_of(kind, bytes, type));
    RC_ASSERT(machine.ended == n);
    RC_ASSERT(machine.engine->wrong_results() == std::vector<std::string>{});
    RC_ASSERT(machine.fabric.values().live() == 0U);
    for (const auto& link : machine.fabric.links())
        RC_ASSERT(
            link->outstanding(VirtualChannel::kRequest) + link->outstanding(VirtualChannel::kDown) +
                link->outstanding(VirtualChannel::kResponse) ==
            0U);
}

constexpr std::uint64_t kSize = 16ULL << 20U;

TEST(TileStores, AScatterSendsAllAndGetsAShareAndAGatherTheOtherWayRound) {
    SwitchedTopology quick = TestMachine::hgx(8);
    quick.node.reduction->adder_rate = gigabytes_per_second(1'000);
    TestMachine scatter(quick.build(), TestMachine::params(), stores());
    const CollectiveRecord record =
        scatter.run(operation_of(CollectiveKind::kReduceScatter, kSize));
    EXPECT_EQ(payload_of(scatter, "gpu3_to_"), kSize);
    EXPECT_EQ(payload_of(scatter, "_to_gpu3"), kSize / 8);
    EXPECT_EQ(scatter.ports[3]->most_blocks, 0U) << "the product's own warps store";
    EXPECT_EQ(scatter.ports[3]->bytes_read, 0U) << "from registers";
    TestMachine gather(TestMachine::hgx(8).build(), TestMachine::params(), stores());
    const CollectiveRecord gathered = gather.run(operation_of(CollectiveKind::kAllGather, kSize));
    EXPECT_EQ(payload_of(gather, "gpu3_to_"), kSize / 8);
    EXPECT_EQ(payload_of(gather, "_to_gpu3"), kSize);
    // Bytes of the busy direction at the links' rate, headers and all, and a way there and back.
    const double rate = 18 * 26.5625e9 * 0.871;
    const double wire = static_cast<double>(kSize) * 144 / 128;
    for (const CollectiveRecord& one : {record, gathered}) {
        const double us = to_microseconds(one.end - one.start);
        EXPECT_GT(us, wire / rate * 1e6);
        EXPECT_LT(us, wire / rate * 1e6 * 1.1 + 4) << to_string(one.kind);
    }
}

TEST(TileStores, HalvingTheTransferUnitConverges) {
    for (const CollectiveKind kind : {CollectiveKind::kReduceScatter, CollectiveKind::kAllGather}) {
        std::vector<double> times;
        for (const std::uint64_t unit : {512ULL, 1'024ULL, 4'096ULL}) {
            CollectiveParams params = TestMachine::params();
            params.transfer_unit = Bytes(unit);
            TestMachine machine(TestMachine::hgx(8).build(), params, stores());
            const CollectiveRecord record = machine.run(operation_of(kind, kSize));
            times.push_back(to_microseconds(record.end - record.start));
        }
        EXPECT_NEAR(times[1] / times[0], 1, 0.02) << to_string(kind);
        EXPECT_NEAR(times[2] / times[0], 1, 0.02) << to_string(kind);
    }
}

/// With a product that takes no time all its pieces are released at once.
TEST(TileStores, PiecesReleasedTogetherTakeTheTimeOfOneCollective) {
    constexpr std::uint32_t kPieces = 8;
    const auto until = [](CollectiveKind kind, std::uint32_t pieces) {
        SwitchedTopology quick = TestMachine::hgx(8);
        quick.node.reduction->adder_rate = gigabytes_per_second(1'000);
        TestMachine machine(quick.build(), TestMachine::params(), stores());
        struct Ends final : CollectiveListener {
            void on_collective_end(std::uint32_t) override {}
        } ends;
        for (std::uint32_t piece = 0; piece < pieces; ++piece) {
            CollectiveOperation operation = operation_of(kind, 4 * kSize / pieces);
            operation.sequence = piece;
            for (const std::uint32_t rank : machine.group)
                machine.engine->start(rank, rank, operation, 0, ends);
        }
        machine.simulation.run();
        EXPECT_EQ(machine.engine->records().size(), pieces);
        return to_microseconds(machine.engine->records().back().end);
    };
    for (const CollectiveKind kind : {CollectiveKind::kReduceScatter, CollectiveKind::kAllGather})
        EXPECT_NEAR(until(kind, kPieces) / until(kind, 1), 1, 0.03) << to_string(kind);
}

struct SilentListener : MemberListener {
    void on_member_done(std::uint32_t, Time end) override { last = std::max(last, end); }
    Time last;
};

struct Late {
    double us = 0;  ///< after the last member has begun
    ReductionUnitStatistics units;
};
/// A reduce-scatter of four whose last member begins late.
Late with_late_member(Time late, const ReductionUnitParams& unit) {
    SwitchedTopology of = TestMachine::hgx(4);
    of.node.reduction = unit;
    of.node.reduction->adder_rate = gigabytes_per_second(1'000);
    const Topology topology = of.build();
    const CollectiveParams params = TestMachine::params();
    TestMachine machine(topology, params, stores(), 1);
    std::vector<RankPort*> ports;
    for (const auto& port : machine.ports)
        ports.push_back(port.get());
    CollectiveSpec spec;
    spec.kind = CollectiveKind::kReduceScatter;
    spec.bytes = Bytes(8ULL << 20U);
    spec.ranks = {0, 1, 2, 3};
    spec.layout = lay_out(topology, spec.ranks);
    spec.choice.algorithm = Algorithm::kInSwitch;
    spec.choice.own = StoresConfig{};
    SilentListener listener;
    std::string refused;
    const auto running =
        make_collective({machine.fabric, params, ports, true}, spec, listener, refused);
    const auto before = make_values(1, 4, spec.bytes.count() / 4, ElementType::kFloat32);
    dynamic_cast<Functional&>(*running).buffers() = before;
    for (std::uint32_t i = 0; i < 4; ++i)
        running->join(i, i == 3 ? late : Time());
    machine.simulation.run();
    EXPECT_EQ(check_values(spec, before, dynamic_cast<Functional&>(*running).results()), "");
    return {to_microseconds(listener.last) - to_microseconds(late), counted(machine)};
}

TEST(TileStores, ALateMembersLinesWaitInTheTables) {
    ReductionUnitParams unit;
    unit.timeout = Time();
    const Late together = with_late_member(Time(), unit);
    const Late late = with_late_member(microseconds(20), unit);
    EXPECT_LT(together.units.peak_entries, late.units.peak_entries);
    EXPECT_EQ(together.units.stalled_requests, 0U);
    EXPECT_GT(late.units.stalled_requests, 0U) << "tables fill, the links hold the rest back";
    // What waited in tables need not be sent any more; what the links held back follows the late
    // member's own lines at their rate.
    EXPECT_LT(late.us, together.us * 1.25);
    unit.entries = 1U << 16U;
    unit.buffer = mebibytes(64);
    const Late ample = with_late_member(microseconds(20), unit);
    EXPECT_EQ(ample.units.stalled_requests, 0U);
    EXPECT_LE(ample.us, late.us * 1.001);
    EXPECT_LT(ample.us, together.us * 1.001) << "the late member's own stores";
}

TEST(TileStores, SmallTablesEvictOrStallAndLoseNothing) {
    for (const WhenFull when_full : {WhenFull::kStall, WhenFull::kEvict})
        for (const std::uint32_t entries : {1U, 8U, 64U}) {
            ReductionUnitParams unit;
            unit.entries = entries;
            unit.when_full = when_full;
            unit.timeout = microseconds(50);
            const Late late = with_late_member(microseconds(20), unit);
            EXPECT_EQ(late.units.evictions > 0, when_full == WhenFull::kEvict) << entries;
        }
}

std::string first_error(CollectiveKind kind, const CollectivePolicy& policy) {
    ParamChecker checker;
    check_policy(kind, policy, checker);
    return checker.found().empty() ? "" : checker.found().front().first;
}

TEST(TileStores, WhatCannotBeIsRefusedWithTheReason) {
    CollectivePolicy policy = *stores().reduce_scatter;
    EXPECT_EQ(first_error(CollectiveKind::kReduceScatter, policy), "");
    EXPECT_EQ(first_error(CollectiveKind::kAllReduce, policy), "/all_reduce/kernels");
    policy.channels = 4;
    EXPECT_EQ(first_error(CollectiveKind::kReduceScatter, policy), "/reduce_scatter/channels");
    policy.channels = 0;
    policy.mode = InSwitchMode::kPush;
    EXPECT_EQ(first_error(CollectiveKind::kReduceScatter, policy), "/reduce_scatter/mode");
    policy.mode = InSwitchMode::kPull;
    policy.algorithm = Algorithm::kDirect;
    EXPECT_EQ(first_error(CollectiveKind::kReduceScatter, policy), "/reduce_scatter/algorithm");
    policy.algorithm = Algorithm::kInSwitch;
    SwitchedTopology plain = TestMachine::hgx(4);
    plain.node.reduction.reset();
    const Topology built = plain.build();
    const std::vector<std::uint32_t> ranks{0, 1, 2, 3};
    const CollectiveCall call{CollectiveKind::kReduceScatter, Bytes(1024)};
    const Refusal refusal =
        library_for(call.kind, policy)
            .refuses(TestMachine::params(), policy, call, CallGroup(built, ranks, Bytes(4096)));
    EXPECT_EQ(refusal.field, "kernels");
    EXPECT_NE(refusal.why, "");
}

TEST(TileStores, AUnitThatFailsEndsTheRunWithItsName) {
    TestMachine machine(TestMachine::hgx(4).build(), TestMachine::params(), stores());
    const FaultInjector injector(machine.fabric, {ReductionTimeoutFault{"switch0", Time()}}, 7);
    EXPECT_THROW(machine.run(operation_of(CollectiveKind::kReduceScatter, kSize)), SimulationError);
}

}  // namespace
}  // namespace switchfold::tile_stores_test
