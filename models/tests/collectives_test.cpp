// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/collectives/fifo/block_network.h"
#include "models/collectives/fifo/step.h"
#include "models/collectives/functional.h"
#include "models/collectives/library.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>

namespace switchfold::collectives_test {
namespace {

CollectivePolicy policy(Algorithm algorithm, Protocol protocol = Protocol::kAuto) {
    return {algorithm, protocol, 0, false};
}

CollectiveOperation all_reduce(std::uint64_t bytes, Datatype type = Datatype::kFloat32) {
    CollectiveOperation operation;
    operation.bytes = Bytes(bytes);
    operation.datatype = type;
    return operation;
}

DirectTopology ring_of(std::uint32_t gpus) {
    DirectTopology t;
    t.gpus = gpus;
    for (std::uint32_t i = 0; i < gpus; ++i)
        if (gpus > 2 || i == 0)
            t.edges.push_back({i, (i + 1) % gpus, 2});
    return t;
}

/// Whether `sum` is, bit for bit, the sum of one element in ring order from some member: what a
/// ring all-reduce may give.
bool is_a_ring_sum(
    const std::vector<std::vector<float>>& before, std::size_t element, float sum,
    ElementType type) {
    const std::size_t n = before.size();
    for (std::size_t first = 0; first < n; ++first) {
        float value = before[first][element];
        for (std::size_t i = 1; i < n; ++i)
            value = round_to(type, value + before[(first + i) % n][element]);
        if (std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(sum))
            return true;
    }
    return false;
}

struct SilentListener : MemberListener {
    void on_member_done(std::uint32_t, Time) override { ++done; }
    int done = 0;
};

CollectiveConfig chosen(Algorithm algorithm, Protocol protocol, std::uint32_t channels) {
    CollectiveConfig choice;
    choice.algorithm = algorithm;
    choice.protocol = protocol;
    choice.channels = channels;
    return choice;
}

/// Runs one all-reduce in functional mode, without the engine, and returns the buffers.
std::vector<std::vector<float>> reduced(
    const Topology& topology, const CollectiveConfig& choice,
    const std::vector<std::vector<float>>& before, ElementType type, std::uint32_t element_bytes,
    bool read_over_link = false) {
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(256);
    params.read_over_link = read_over_link;
    TestMachine machine(topology, params, CollectivePolicy(), 1);
    std::vector<RankPort*> ports;
    for (const auto& port : machine.ports)
        ports.push_back(port.get());
    CollectiveSpec spec;
    spec.bytes = Bytes(before.front().size() * element_bytes);
    spec.element = type;
    spec.element_bytes = element_bytes;
    for (std::uint32_t i = 0; i < before.size(); ++i)
        spec.ranks.push_back(i);
    spec.rings = {spec.ranks};
    spec.layout = lay_out(topology, spec.ranks);
    spec.choice = choice;
    SilentListener listener;
    const CollectiveEnvironment environment{machine.fabric, params, ports, true};
    std::string refused;
    const auto running = make_collective(environment, spec, listener, refused);
    dynamic_cast<Functional&>(*running).buffers() = before;
    for (std::uint32_t i = 0; i < before.size(); ++i)
        running->join(i, nanoseconds(i * 700));
    machine.simulation.run();
    EXPECT_EQ(listener.done, static_cast<int>(before.size()));
    EXPECT_EQ(machine.fabric.values().live(), 0U);
    return dynamic_cast<Functional&>(*running).results();
}

class BitExact : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(BitExact, RingGivesTheSumInRingOrderOnEveryRank) {
    const std::uint32_t n = GetParam();
    for (const auto& [type, width] :
         {std::pair{ElementType::kFloat32, 4U}, std::pair{ElementType::kFloat16, 2U},
          std::pair{ElementType::kBfloat16, 2U}})
        for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple})
            for (const std::size_t count : {1U, 17U, 1001U, 20'003U}) {
                const auto before = make_values(count + n, n, count, type);
                const bool reads = protocol == Protocol::kSimple && count % 2 == 1;
                const auto after = reduced(
                    TestMachine::hgx(n).build(), chosen(Algorithm::kRing, protocol, 3), before,
                    type, width, reads);
                for (std::size_t i = 0; i < count; ++i) {
                    for (std::uint32_t m = 1; m < n; ++m)
                        ASSERT_EQ(
                            std::bit_cast<std::uint32_t>(after[m][i]),
                            std::bit_cast<std::uint32_t>(after[0][i]));
                    ASSERT_TRUE(is_a_ring_sum(before, i, after[0][i], type)) << i;
                }
            }
}

TEST_P(BitExact, TheSwitchGivesTheSumInRankOrderRoundedOnce) {
    const std::uint32_t n = GetParam();
    for (const auto& [type, width] :
         {std::pair{ElementType::kFloat32, 4U}, std::pair{ElementType::kFloat16, 2U},
          std::pair{ElementType::kBfloat16, 2U}})
        for (const bool registered : {false, true})
            for (const std::size_t count : {1U, 17U, 1001U, 20'003U}) {
                const auto before = make_values(count + n, n, count, type);
                CollectiveConfig choice = chosen(Algorithm::kInSwitch, Protocol::kSimple, 2);
                choice.of<NcclConfig>().registered = registered;
                const auto after =
                    reduced(TestMachine::hgx(n).build(), choice, before, type, width);
                for (std::size_t i = 0; i < count; ++i) {
                    float expected = before[0][i];
                    for (std::uint32_t m = 1; m < n; ++m)
                        expected += before[m][i];
                    expected = round_to(type, expected);
                    for (std::uint32_t m = 0; m < n; ++m)
                        ASSERT_EQ(
                            std::bit_cast<std::uint32_t>(after[m][i]),
                            std::bit_cast<std::uint32_t>(expected))
                            << i;
                }
            }
}

INSTANTIATE_TEST_SUITE_P(Ranks, BitExact, ::testing::Values(2U, 3U, 5U, 8U));

RC_GTEST_PROP(CollectivesProperty, EveryKindIsRightOnEveryTopology, ()) {
    const std::uint32_t n = *rc::gen::inRange(2U, 9U);
    const bool direct = *rc::gen::arbitrary<bool>();
    const Topology topology = direct ? ring_of(n).build() : TestMachine::hgx(n).build();
    CollectiveOperation operation;
    operation.kind = *rc::gen::element(
        CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
        CollectiveKind::kBroadcast, CollectiveKind::kAllToAll);
    operation.datatype =
        *rc::gen::element(Datatype::kFloat32, Datatype::kFloat16, Datatype::kBfloat16);
    // Blocks of reduce-scatter and all-gather are whole 16-byte grains.
    const std::uint64_t grains = *rc::gen::inRange<std::uint64_t>(1, 3000);
    const bool free_size = operation.kind == CollectiveKind::kAllReduce ||
                           operation.kind == CollectiveKind::kBroadcast;
    const std::uint64_t odd =
        free_size ? size_of(operation.datatype).count() * *rc::gen::inRange<std::uint64_t>(0, 4)
                  : 0;
    operation.bytes = Bytes(grains * 16 * n + odd);
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(std::uint64_t{128} << *rc::gen::inRange(0U, 6U));
    params.read_over_link = *rc::gen::arbitrary<bool>();
    params.channels = *rc::gen::inRange(1U, 25U);
    CollectivePolicy how = policy(
        *rc::gen::element(Algorithm::kRing, Algorithm::kTree),
        *rc::gen::element(Protocol::kAuto, Protocol::kLl, Protocol::kLl128, Protocol::kSimple));
    TestMachine machine(topology, params, how, 1);
    const CollectiveRecord record = machine.run(operation);
    RC_ASSERT(machine.ended == n);
    RC_ASSERT(machine.engine->wrong_results().empty());
    RC_ASSERT(machine.fabric.values().live() == 0U);
    RC_ASSERT(record.end > record.start);
}

double bus_bandwidth(const CollectiveRecord& record) {
    const double n = record.ranks;
    return static_cast<double>(record.bytes.count()) / to_seconds(record.end - record.start) * 2 *
           (n - 1) / n;
}

TEST(AllReduceSpeed, OneSetOfLinkNumbersExplainsRingAndSwitch) {
    const auto reached = [](Algorithm algorithm) {
        TestMachine machine(TestMachine::hgx(8).build(), TestMachine::params(), policy(algorithm));
        return bus_bandwidth(machine.run(all_reduce(256ULL << 20U)));
    };
    // nccl#2140, 8xH100: 370 and 480 GB/s at large sizes.
    EXPECT_NEAR(reached(Algorithm::kRing) / 370e9, 1.0, 0.10);
    EXPECT_NEAR(reached(Algorithm::kInSwitch) / 470e9, 1.0, 0.10);
}

TEST(AllReduceSpeed, NeverAboveTheLink) {
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree}) {
        TestMachine machine(TestMachine::hgx(4).build(), TestMachine::params(), policy(algorithm));
        const double usable = static_cast<double>(machine.fabric.links()[0]->bandwidth().count()) /
                              5 * 18 * 128 / 144;
        EXPECT_LE(bus_bandwidth(machine.run(all_reduce(64ULL << 20U))), usable);
    }
}

TEST(AllReduceSpeed, HalvingTheTransferUnitConverges) {
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kInSwitch})
        for (const std::uint64_t size : {1ULL << 20U, 32ULL << 20U, 256ULL << 20U}) {
            const auto time = [&](std::uint64_t unit) {
                CollectiveParams params = TestMachine::params();
                params.transfer_unit = Bytes(unit);
                TestMachine machine(TestMachine::hgx(8).build(), params, policy(algorithm));
                const CollectiveRecord record = machine.run(all_reduce(size));
                return to_seconds(record.end - record.start);
            };
            EXPECT_NEAR(time(2048) / time(4096), 1.0, 0.02) << size;
        }
}

TEST(AllReduceTraffic, RingReadsAndWritesWhatNcclDoes) {
    // hardware.md A4: a GPU sends 2(N-1)/N S, reads (3N-2)/N S and writes S in addition to what
    // arrives over the link.
    constexpr std::uint64_t kSize = 24ULL << 20U;
    TestMachine machine(
        TestMachine::hgx(8).build(), TestMachine::params(),
        policy(Algorithm::kRing, Protocol::kSimple));
    machine.run(all_reduce(kSize));
    const IdealPort& port = *machine.ports[3];
    EXPECT_NEAR(static_cast<double>(port.bytes_read), 22.0 / 8 * kSize, kSize * 1e-3);
    EXPECT_NEAR(static_cast<double>(port.bytes_written), 1.0 * kSize, kSize * 1e-3);
    std::uint64_t sent = 0;
    for (const auto& link : machine.fabric.links())
        if (std::string(link->name()).find("gpu3_to_") != std::string::npos)
            sent += link->statistics().payload_bytes;
    EXPECT_NEAR(static_cast<double>(sent), 14.0 / 8 * kSize, kSize * 1e-3);
}

TEST(AllReduceTraffic, TheSwitchHalvesWhatAGpuSends) {
    constexpr std::uint64_t kSize = 24ULL << 20U;
    TestMachine machine(
        TestMachine::hgx(8).build(), TestMachine::params(), policy(Algorithm::kInSwitch));
    machine.run(all_reduce(kSize));
    std::uint64_t sent = 0;
    std::uint64_t reductions = 0;
    for (const auto& link : machine.fabric.links())
        if (std::string(link->name()).find("gpu3_to_") != std::string::npos)
            sent += link->statistics().payload_bytes;
    for (const auto& node : machine.fabric.switches())
        for (std::size_t port = 0; port < node->incoming().size(); ++port)
            reductions += node->unit(port)->statistics().bytes_out;
    // hardware.md A5: a GPU sends S in answers to the switch and S/N in its own stores. The
    // switches sum every byte once.
    EXPECT_NEAR(static_cast<double>(sent), 9.0 / 8 * kSize, kSize * 1e-3);
    EXPECT_EQ(reductions, kSize);
}

TEST(CollectiveEngine, AMissingRankLeavesTheOthersWaitingAndSaysSo) {
    TestMachine machine(
        TestMachine::hgx(4).build(), TestMachine::params(), policy(Algorithm::kRing));
    struct Ignore : CollectiveListener {
        void on_collective_end(std::uint32_t) override {}
    } ignore;
    for (std::uint32_t rank = 0; rank < 3; ++rank)
        machine.engine->start(rank, 0, all_reduce(1 << 20U), 0, ignore);
    machine.simulation.run();
    EXPECT_TRUE(machine.engine->records().empty());
    ASSERT_EQ(machine.engine->blocked().size(), 1U);
    EXPECT_NE(machine.engine->blocked()[0].find("waits for rank 3"), std::string::npos);
}

TEST(CollectiveEngine, AGroupOfOneMovesNothing) {
    for (const CollectiveKind kind :
         {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
          CollectiveKind::kBroadcast, CollectiveKind::kReduce, CollectiveKind::kAllToAll}) {
        TestMachine machine(
            TestMachine::hgx(2).build(), TestMachine::params(), policy(Algorithm::kRing), 0, {1});
        CollectiveOperation operation = all_reduce(1 << 20U);
        operation.kind = kind;
        machine.run(operation);
        EXPECT_EQ(machine.ended, 1U);
        for (const auto& link : machine.fabric.links())
            EXPECT_EQ(link->statistics().packets, 0U);
    }
}

TEST(CollectiveEngine, RanksThatDisagreeAreAnError) {
    TestMachine machine(
        TestMachine::hgx(2).build(), TestMachine::params(), policy(Algorithm::kRing));
    struct Ignore : CollectiveListener {
        void on_collective_end(std::uint32_t) override {}
    } ignore;
    machine.engine->start(0, 0, all_reduce(1 << 20U), 0, ignore);
    EXPECT_THROW(machine.engine->start(1, 0, all_reduce(1 << 19U), 0, ignore), SimulationError);
}

TEST(TracedKernel, ARingTakesNoMoreBlocksThanItsKernelHad) {
    const auto channels = [](Algorithm algorithm, std::uint32_t forced, std::uint32_t traced) {
        TestMachine machine(
            build_topology(TestMachine::hgx(8)), TestMachine::params(),
            {algorithm, Protocol::kSimple, forced, false});
        CollectiveOperation operation;
        operation.bytes = mebibytes(64);
        operation.thread_blocks = traced;
        return machine.run(operation).choice.channels;
    };
    const std::uint32_t own = channels(Algorithm::kRing, 0, 0);
    EXPECT_EQ(channels(Algorithm::kRing, 0, 8), 8U);
    EXPECT_EQ(channels(Algorithm::kRing, 0, 100), own);
    EXPECT_EQ(channels(Algorithm::kRing, 12, 8), 12U);  // as the policy asks
    EXPECT_EQ(channels(Algorithm::kInSwitch, 0, 8), channels(Algorithm::kInSwitch, 0, 0));
}

TEST(ChannelsFor, ShrinksLikeNccl) {
    const CollectiveParams p = TestMachine::params();
    MachineView eight;
    eight.ranks = 8;
    EXPECT_EQ(channels_for(p, Algorithm::kRing, Protocol::kSimple, eight, mebibytes(256)), 24U);
    EXPECT_EQ(channels_for(p, Algorithm::kRing, Protocol::kSimple, eight, kibibytes(1)), 1U);
    EXPECT_EQ(
        channels_for(p, Algorithm::kRing, Protocol::kLl, eight, kibibytes(128)),
        4U);  // 8 * 8 ranks * 512 threads = 32 KiB per channel
}

TEST(PartOfChannel, CoversTheBufferOnce) {
    for (const std::uint64_t bytes : {1ULL, 16ULL, 1000ULL, 123'457ULL}) {
        std::uint64_t next = 0;
        for (std::uint32_t c = 0; c < 7; ++c) {
            const Part part = part_of_channel(bytes, 7, c, 16);
            EXPECT_EQ(part.begin, std::min(next, bytes));
            next = part.begin + part.bytes;
        }
        EXPECT_EQ(next, bytes);
    }
}

TEST(ChunkShape, IsNcclsInAFifoOfEightStepsAndLeavesRoomForTwoChunksInOthers) {
    EXPECT_EQ(kRingShape.in_fifo_of(8).steps_per_chunk, 4U);
    EXPECT_EQ(kRingShape.in_fifo_of(8).steps_per_slice, 2U);
    EXPECT_EQ(kStepShape.in_fifo_of(8).steps_per_chunk, 1U);
    for (std::uint32_t steps = 3; steps <= 64; ++steps)
        for (const ChunkShape& shape : {kRingShape, kStepShape}) {
            const ChunkShape cut = shape.in_fifo_of(steps);
            EXPECT_GE(cut.steps_per_slice, 1U);
            EXPECT_EQ(cut.steps_per_chunk % cut.steps_per_slice, 0U);
            EXPECT_GE(steps / cut.steps_per_slice, 2 * cut.steps_per_chunk / cut.steps_per_slice);
        }
}

TEST(Ring, EndsWithFifosOfAnyNumberOfSteps) {
    for (const std::uint32_t steps : {3U, 4U, 5U, 6U, 7U, 8U, 12U, 64U})
        for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple})
            for (const CollectiveKind kind :
                 {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                  CollectiveKind::kReduceScatter}) {
                CollectiveParams params = TestMachine::params();
                params.steps = steps;
                TestMachine machine(ring_of(4).build(), params, policy(Algorithm::kRing, protocol));
                CollectiveOperation operation = all_reduce(24'000'000);
                operation.kind = kind;
                machine.run(operation);
                EXPECT_EQ(machine.ended, 4U) << steps << " steps";
            }
}

}  // namespace
}  // namespace switchfold::collectives_test
