// SPDX-License-Identifier: Apache-2.0
// All-reduces through the switch in 8-bit numbers.
#include "core/error.h"
#include "interconnect/fault_injector.h"
#include "interconnect/tests/narrow_reference.h"
#include "models/collectives/functional.h"
#include "models/collectives/library.h"
#include "models/tests/reducing_machines.h"
#include "models/tests/test_machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

namespace switchfold::quantised_all_reduce_test {
namespace {

constexpr std::array kFormats{
    NarrowFormat::kFloat8E4m3, NarrowFormat::kFloat8E5m2, NarrowFormat::kInt8};

Quantisation quantised_at(
    QuantisedAt at, NarrowFormat format = NarrowFormat::kFloat8E4m3, std::uint32_t block = 32,
    std::uint32_t scale_bytes = 1) {
    return {at, format, block, scale_bytes};
}

CollectivePolicy
in_switch(InSwitchMode mode, const Quantisation& quantised, bool registered = true) {
    CollectivePolicy policy{Algorithm::kInSwitch, Protocol::kAuto, 0, registered};
    policy.mode = mode;
    policy.quantised = quantised;
    return policy;
}

CollectiveOperation all_reduce(std::uint64_t bytes, Datatype type = Datatype::kFloat32) {
    CollectiveOperation operation;
    operation.bytes = Bytes(bytes);
    operation.datatype = type;
    return operation;
}

struct SilentListener : MemberListener {
    void on_member_done(std::uint32_t, Time) override { ++done; }
    int done = 0;
};

/// What members hold after one all-reduce of these numbers.
std::vector<std::vector<float>> reduced(
    const ReductionUnitParams& unit, const CollectivePolicy& policy,
    const std::vector<std::vector<float>>& before, ElementType type) {
    SwitchedTopology machine_of = TestMachine::hgx(static_cast<std::uint32_t>(before.size()));
    machine_of.node.reduction = unit;
    const Topology topology = machine_of.build();
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(256);
    params.in_switch_chunk = kibibytes(4);
    TestMachine machine(topology, params, policy, 1);
    std::vector<RankPort*> ports;
    for (const auto& port : machine.ports)
        ports.push_back(port.get());
    CollectiveSpec spec;
    spec.element = type;
    spec.element_bytes = width_of(type);
    spec.bytes = Bytes(before.front().size() * spec.element_bytes);
    spec.ranks.resize(before.size());
    std::iota(spec.ranks.begin(), spec.ranks.end(), 0U);
    spec.layout = lay_out(topology, spec.ranks);
    spec.choice.algorithm = Algorithm::kInSwitch;
    spec.choice.channels = 2;
    auto& own = spec.choice.of<NcclConfig>();
    own.mode = policy.mode;
    own.registered = policy.registered;
    own.quantised = policy.quantised;
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

bool same(const std::vector<float>& a, const std::vector<float>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
        return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
    });
}

struct Shape {
    Quantisation quantised;
    Accumulation accumulation = Accumulation::kFloat32;
    ElementType type = ElementType::kFloat32;
    [[nodiscard]] std::string words() const {
        return fmt::format(
            "{} {} blocks of {}, scales of {}, {} in {}", enum_name(quantised.at),
            enum_name(quantised.format), quantised.block, quantised.scale_bytes, enum_name(type),
            enum_name(accumulation));
    }
};
std::vector<Shape> shapes() {
    std::vector<Shape> all;
    for (const QuantisedAt at : {QuantisedAt::kGpu, QuantisedAt::kPort})
        for (const NarrowFormat format : kFormats)
            for (const std::uint32_t scale : {1U, 2U, 4U})
                for (const Accumulation in : {Accumulation::kFloat32, Accumulation::kElement})
                    for (const ElementType type :
                         {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBfloat16})
                        all.push_back(
                            {quantised_at(at, format, scale == 2 ? 8 : 32, scale), in, type});
    return all;
}

class BitTrue : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(BitTrue, APullGivesTheReferencesSumInRankOrder) {
    const std::uint32_t n = GetParam();
    for (const Shape& shape : shapes())
        for (const auto& [mode, registered] :
             {std::pair{InSwitchMode::kPull, true}, std::pair{InSwitchMode::kPull, false},
              std::pair{InSwitchMode::kCommand, true}}) {
            const std::size_t count = 1'001 + 13 * n;
            const auto before = make_values(count, n, count, shape.type);
            ReductionUnitParams unit;
            unit.accumulation = shape.accumulation;
            const auto after =
                reduced(unit, in_switch(mode, shape.quantised, registered), before, shape.type);
            const std::vector<float> expected =
                NarrowReference(shape.quantised).sum(before, shape.type, shape.accumulation);
            for (std::uint32_t m = 0; m < n; ++m)
                ASSERT_TRUE(same(after[m], expected)) << shape.words();
        }
}

TEST_P(BitTrue, APushGivesItInTheOrderInWhichABlocksOperandsCame) {
    const std::uint32_t n = std::min(GetParam(), 4U);
    for (const Shape& shape : shapes()) {
        const std::size_t count = 517;
        const auto before = make_values(n, n, count, shape.type);
        ReductionUnitParams unit;
        unit.accumulation = shape.accumulation;
        const auto after =
            reduced(unit, in_switch(InSwitchMode::kPush, shape.quantised), before, shape.type);
        const std::size_t block = shape.quantised.block;
        for (std::size_t first = 0; first < count; first += block) {
            const auto cut = [&](const std::vector<float>& whole) {
                const std::size_t end = std::min(first + block, count);
                return std::vector<float>(
                    whole.begin() + static_cast<std::ptrdiff_t>(first),
                    whole.begin() + static_cast<std::ptrdiff_t>(end));
            };
            std::vector<std::uint32_t> order(n);
            std::iota(order.begin(), order.end(), 0U);
            bool found = false;
            do {
                std::vector<std::vector<float>> operands;
                for (const std::uint32_t m : order)
                    operands.push_back(cut(before[m]));
                found = same(
                    cut(after[0]),
                    NarrowReference(shape.quantised).sum(operands, shape.type, shape.accumulation));
            } while (!found && std::next_permutation(order.begin(), order.end()));
            ASSERT_TRUE(found) << shape.words() << ", from " << first;
        }
        for (std::uint32_t m = 1; m < n; ++m)
            ASSERT_TRUE(same(after[m], after[0])) << shape.words();
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, BitTrue, ::testing::Values(2U, 3U, 5U, 8U));

/// Whatever the tables, the levels and the faults: the sum that all members get is within the
/// closed bound, which the engine checks, and no number is left on the way.
RC_GTEST_PROP(QuantisedProperty, NoSumIsFurtherOffThanTheBoundWhateverBreaks, ()) {
    ReductionUnitParams unit = random_unit();
    unit.line = Bytes(std::uint64_t{64} << *rc::gen::inRange(0U, 4U));
    const auto mode =
        *rc::gen::element(InSwitchMode::kPull, InSwitchMode::kPush, InSwitchMode::kCommand);
    const auto type =
        *rc::gen::element(Datatype::kFloat32, Datatype::kFloat16, Datatype::kBfloat16);
    const auto at = *rc::gen::element(QuantisedAt::kGpu, QuantisedAt::kPort);
    const std::uint32_t in_line =
        static_cast<std::uint32_t>(unit.line.count()) /
        (at == QuantisedAt::kPort ? static_cast<std::uint32_t>(size_of(type).count()) : 1U);
    const Quantisation quantised{
        at, *rc::gen::elementOf(kFormats), std::max(4U, in_line >> *rc::gen::inRange(0U, 5U)),
        *rc::gen::element(1U, 2U, 4U)};
    const std::uint64_t bytes = *rc::gen::inRange<std::uint64_t>(1, 60'000) * size_of(type).count();
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(std::uint64_t{128} << *rc::gen::inRange(0U, 6U));
    const Topology topology = machine_with(unit, *rc::gen::arbitrary<bool>());
    TestMachine machine(
        topology, params, in_switch(mode, quantised, *rc::gen::arbitrary<bool>()),
        *rc::gen::inRange<std::uint64_t>(1, 1'000'000));
    const FaultInjector injector(machine.fabric, some_fault(topology), 7);
    const CollectiveRecord record = machine.run(all_reduce(bytes, type));
    RC_TAG(std::string(record.fallback == Fallback::kNone ? "in the switch" : "fell back"));
    RC_ASSERT(machine.ended == machine.fabric.gpus());
    RC_ASSERT(machine.engine->wrong_results() == std::vector<std::string>{});
    RC_ASSERT(machine.fabric.values().live() == 0U);
    RC_ASSERT(machine.engine->notes().size() == 1U);
    RC_ASSERT(
        (record.fallback == Fallback::kNone) ==
        (machine.engine->notes().front().find("root mean square") != std::string::npos));
    for (const auto& link : machine.fabric.links())
        RC_ASSERT(
            link->outstanding(VirtualChannel::kRequest) + link->outstanding(VirtualChannel::kDown) +
                link->outstanding(VirtualChannel::kResponse) ==
            0U);
}

/// A sum that is off by more than the bound is found.
TEST(QuantisedBound, IsHeldAndNotVacuous) {
    CollectiveSpec spec;
    spec.bytes = Bytes(4 * 64);
    spec.ranks = {0, 1, 2};
    spec.choice.of<NcclConfig>().quantised = quantised_at(QuantisedAt::kGpu);
    const std::vector<std::vector<float>> before(3, std::vector<float>(64, 1.0F));
    const double most = quantised_bound(spec.format(), spec.accumulation, 3);
    EXPECT_NEAR(most, 1.0625 * 1.0625 - 1, 1e-6);
    std::vector<std::vector<float>> after(3, std::vector<float>(64, 3.0F));
    EXPECT_EQ(check_values(spec, before, after), "");
    for (auto& result : after)
        result[40] = static_cast<float>(3 * (1 + 0.99 * most));
    EXPECT_EQ(check_values(spec, before, after), "");
    for (auto& result : after)
        result[40] = static_cast<float>(3 * (1 + 1.01 * most));
    EXPECT_NE(check_values(spec, before, after).find("element 40"), std::string::npos);
    // Operands and sum that all round the same way come close to it.
    const std::vector<std::vector<float>> unlucky(2, std::vector<float>(32, 1.0624F));
    const auto found = reduced(
        ReductionUnitParams{}, in_switch(InSwitchMode::kPull, quantised_at(QuantisedAt::kGpu)),
        unlucky, ElementType::kFloat32);
    QuantisedError error;
    error.add(spec, unlucky, found);
    EXPECT_GT(error.worst, 0.4 * error.bound);
    EXPECT_LT(error.worst, error.bound);
    // The adders' own width: one more rounding for each member.
    EXPECT_NEAR(
        quantised_bound(spec.format(), Accumulation::kElement, 8), std::pow(1.0625, 8) - 1, 1e-6);
    spec.choice.of<NcclConfig>().quantised.at = QuantisedAt::kPort;
    EXPECT_NEAR(quantised_bound(spec.format(), Accumulation::kFloat32, 8), 0.0625, 1e-6);
}

/// Payload bytes on the links whose name contains `words`.
std::uint64_t payload_of(const TestMachine& machine, const std::string& words) {
    std::uint64_t bytes = 0;
    for (const auto& link : machine.fabric.links())
        if (std::string(link->name()).find(words) != std::string::npos)
            bytes += link->statistics().payload_bytes;
    return bytes;
}

constexpr std::uint64_t kSize = 8ULL << 20U;

struct Moved {
    double us;
    std::uint64_t up;
    std::uint64_t down;
    std::uint64_t read;
    std::uint64_t written;
};
Moved moved(
    InSwitchMode mode, const Quantisation& quantised, Datatype type = Datatype::kFloat32,
    bool registered = true, const ReductionUnitParams& unit = {}) {
    SwitchedTopology topology = TestMachine::hgx(8);
    topology.node.reduction = unit;
    TestMachine machine(
        topology.build(), TestMachine::params(), in_switch(mode, quantised, registered));
    const CollectiveRecord record = machine.run(all_reduce(kSize, type));
    EXPECT_EQ(record.choice.algorithm, Algorithm::kInSwitch);
    return {
        to_microseconds(record.end - record.start), payload_of(machine, "gpu3_to_"),
        payload_of(machine, "_to_gpu3"), machine.ports[3]->bytes_read,
        machine.ports[3]->bytes_written};
}

TEST(QuantisedBytes, AGpuSendsAndGetsAByteAnElement) {
    constexpr std::uint64_t kNarrowed = kSize / 4 * 33 / 32;
    const Moved push = moved(InSwitchMode::kPush, quantised_at(QuantisedAt::kGpu));
    EXPECT_EQ(push.up, kNarrowed);
    EXPECT_EQ(push.down, kNarrowed);
    EXPECT_EQ(push.read, kSize) << "the block quantises what it reads";
    // A pull's sums come to their head and leave it again.
    const Moved pull = moved(InSwitchMode::kPull, quantised_at(QuantisedAt::kGpu));
    EXPECT_EQ(pull.up, kNarrowed * 9 / 8);
    EXPECT_EQ(pull.down, kNarrowed * 9 / 8);
    const Moved half =
        moved(InSwitchMode::kPush, quantised_at(QuantisedAt::kGpu), Datatype::kBfloat16);
    EXPECT_EQ(half.up, kSize / 2 * 33 / 32);
    // Without registered buffers the warps quantise what they copy.
    const Moved copies =
        moved(InSwitchMode::kPull, quantised_at(QuantisedAt::kGpu), Datatype::kFloat32, false);
    EXPECT_EQ(copies.read, kSize + kNarrowed);
    EXPECT_EQ(copies.written, kSize + kNarrowed);
}

TEST(QuantisedBytes, APortsSumsAloneAreNarrow) {
    constexpr std::uint64_t kNarrowed = kSize / 4 * 33 / 32;
    const Moved push = moved(InSwitchMode::kPush, quantised_at(QuantisedAt::kPort));
    EXPECT_EQ(push.up, kSize);
    EXPECT_EQ(push.down, kNarrowed);
    const Moved pull = moved(InSwitchMode::kPull, quantised_at(QuantisedAt::kPort));
    EXPECT_EQ(pull.up, kSize + kNarrowed / 8);
    EXPECT_EQ(pull.down, kNarrowed * 9 / 8);
    const Moved command = moved(InSwitchMode::kCommand, quantised_at(QuantisedAt::kPort));
    EXPECT_EQ(command.up, kSize);
    EXPECT_EQ(command.down, kNarrowed);
}

TEST(QuantisedTime, IsThatOfTheBytesOnTheBusiestLinks) {
    ReductionUnitParams fast;
    fast.adder_rate = gigabytes_per_second(1'000);
    const auto us = [&](InSwitchMode mode, QuantisedAt at) {
        return moved(mode, quantised_at(at), Datatype::kFloat32, true, fast).us;
    };
    for (const InSwitchMode mode : {InSwitchMode::kPush, InSwitchMode::kPull}) {
        const double full = us(mode, QuantisedAt::kNowhere);
        const double gpu = us(mode, QuantisedAt::kGpu);
        const double port = us(mode, QuantisedAt::kPort);
        EXPECT_LT(gpu, 0.6 * full) << enum_name(mode);
        EXPECT_LT(port, 1.02 * full) << enum_name(mode);
        EXPECT_GT(port, 1.3 * gpu) << "operands travel at their width: " << enum_name(mode);
    }
}

TEST(QuantisedTime, SlowAddersTakeAsManyElementsAsBefore) {
    ReductionUnitParams slow;
    slow.adder_rate = gigabytes_per_second(1);
    const double full = moved(InSwitchMode::kPush, {}, Datatype::kFloat32, true, slow).us;
    const double gpu =
        moved(InSwitchMode::kPush, quantised_at(QuantisedAt::kGpu), Datatype::kFloat32, true, slow)
            .us;
    EXPECT_NEAR(gpu / full, 1, 0.05) << "float32 sums: one element at a time";
    slow.accumulation = Accumulation::kElement;
    const double narrow =
        moved(InSwitchMode::kPush, quantised_at(QuantisedAt::kGpu), Datatype::kFloat32, true, slow)
            .us;
    EXPECT_NEAR(narrow / full, 0.25, 0.03);
}

TEST(QuantisedTime, HalvingTheTransferUnitConverges) {
    for (const InSwitchMode mode : {InSwitchMode::kPush, InSwitchMode::kPull})
        for (const QuantisedAt at : {QuantisedAt::kGpu, QuantisedAt::kPort}) {
            std::vector<double> times;
            for (const std::uint64_t unit : {512ULL, 1'024ULL, 4'096ULL}) {
                CollectiveParams params = TestMachine::params();
                params.transfer_unit = Bytes(unit);
                TestMachine machine(
                    TestMachine::hgx(8).build(), params, in_switch(mode, quantised_at(at)));
                const CollectiveRecord record = machine.run(all_reduce(16ULL << 20U));
                times.push_back(to_microseconds(record.end - record.start));
            }
            EXPECT_NEAR(times[1] / times[0], 1, 0.02) << enum_name(mode) << enum_name(at);
            EXPECT_NEAR(times[2] / times[0], 1, 0.02) << enum_name(mode) << enum_name(at);
        }
}

std::string first_error(CollectiveKind kind, const CollectivePolicy& policy) {
    ParamChecker checker;
    check_policy(kind, policy, checker);
    return checker.found().empty() ? "" : checker.found().front().first;
}

TEST(QuantisedInput, WhatCannotBeIsRefusedWithTheReason) {
    CollectivePolicy policy = in_switch(InSwitchMode::kPull, quantised_at(QuantisedAt::kGpu));
    EXPECT_EQ(first_error(CollectiveKind::kAllReduce, policy), "");
    EXPECT_EQ(first_error(CollectiveKind::kReduceScatter, policy), "/reduce_scatter/quantised/at");
    policy.algorithm = Algorithm::kRing;
    EXPECT_EQ(first_error(CollectiveKind::kAllReduce, policy), "/all_reduce/quantised/at");
    policy.algorithm = Algorithm::kInSwitch;
    policy.mode = InSwitchMode::kPull;
    policy.kernels = Kernels::kSymmetric;
    EXPECT_EQ(first_error(CollectiveKind::kAllReduce, policy), "/all_reduce/quantised/at");
    policy.kernels = Kernels::kClassic;
    SwitchedTopology topology = TestMachine::hgx(4);
    const auto refusal = [&](Datatype type) {
        const Topology built = topology.build();
        const std::vector<std::uint32_t> ranks{0, 1, 2, 3};
        const CollectiveCall call{CollectiveKind::kAllReduce, Bytes(1024), type};
        return library_for(call.kind, policy)
            .refuses(TestMachine::params(), policy, call, CallGroup(built, ranks, Bytes(4096)));
    };
    EXPECT_EQ(refusal(Datatype::kBfloat16).why, "");
    EXPECT_EQ(refusal(Datatype::kInt32).field, "quantised/at");
    EXPECT_NE(refusal(Datatype::kInt32).why.find("int32 has no 8-bit sums"), std::string::npos);
    policy.quantised.block = 256;
    EXPECT_EQ(refusal(Datatype::kFloat32).field, "quantised/format");
    EXPECT_NE(
        refusal(Datatype::kFloat32).why.find("not whole blocks of 256 elements"),
        std::string::npos);
    policy.quantised.block = 32;
    topology.node.reduction->formats = {NarrowFormat::kInt8};
    EXPECT_NE(refusal(Datatype::kFloat32).why.find("adds no float8_e4m3"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::quantised_all_reduce_test
