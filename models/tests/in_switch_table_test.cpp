// SPDX-License-Identifier: Apache-2.0
// The tables and adders of reduction units under all-reduces.
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace switchfold::in_switch_table_test {
namespace {

struct Case {
    SwitchedTopology machine;
    InSwitchMode mode = InSwitchMode::kPull;
    bool registered = true;
    std::uint64_t bytes = 0;
    Datatype type = Datatype::kFloat32;

    [[nodiscard]] double microseconds(std::uint64_t transfer_unit = 4096) const {
        CollectiveParams params = TestMachine::params();
        params.transfer_unit = Bytes(transfer_unit);
        CollectivePolicy policy{Algorithm::kInSwitch, Protocol::kAuto, 0, registered};
        policy.mode = mode;
        TestMachine running(machine.build(), params, policy);
        CollectiveOperation operation;
        operation.bytes = Bytes(bytes);
        operation.datatype = type;
        const CollectiveRecord record = running.run(operation);
        EXPECT_EQ(record.choice.algorithm, Algorithm::kInSwitch);
        return to_microseconds(record.end - record.start);
    }
};

Case on_h100(InSwitchMode mode, std::uint32_t entries) {
    Case run{TestMachine::hgx(8), mode, true, 4ULL << 20U};
    run.machine.node.reduction->entries = entries;
    run.machine.node.reduction->timeout = Time(0);
    return run;
}

TEST(InSwitchTable, TimesOfPushesDoNotDependOnTheTransferUnit) {
    for (const std::uint32_t entries : {1U, 4U, 16U, 256U}) {
        const Case run = on_h100(InSwitchMode::kPush, entries);
        const double lines = run.microseconds(128);
        for (const std::uint64_t unit : {512ULL, 1024ULL, 65'536ULL})
            EXPECT_NEAR(run.microseconds(unit) / lines, 1.0, 0.01) << entries << " " << unit;
    }
}

TEST(InSwitchTable, TimesOfPullsWithSomeEntriesDoNotDependOnTheTransferUnit) {
    for (const std::uint32_t entries : {16U, 256U}) {
        const Case run = on_h100(InSwitchMode::kPull, entries);
        const double lines = run.microseconds(128);
        for (const std::uint64_t unit : {1024ULL, 65'536ULL})
            EXPECT_NEAR(run.microseconds(unit) / lines, 1.0, 0.01) << entries << " " << unit;
    }
}

TEST(InSwitchTable, EachEntryCountsFromOneOn) {
    // Few entries: a pull moves a line an entry and round trip, so twice as many take half the
    // time of what is not latency.
    for (const InSwitchMode mode : {InSwitchMode::kPull, InSwitchMode::kPush}) {
        std::vector<double> us;
        for (const std::uint32_t entries : {1U, 2U, 4U}) {
            us.push_back(on_h100(mode, entries).microseconds());
        }
        EXPECT_GT(us[0], 1.5 * us[1]) << static_cast<int>(mode);
        EXPECT_GT(us[1], 1.4 * us[2]) << static_cast<int>(mode);
    }
}

TEST(InSwitchTable, MoreEntriesNeverSlowAPull) {
    // What a unit with many entries has asked of the members does not stand in the way of their
    // stores and requests.
    for (const InSwitchMode mode : {InSwitchMode::kPull, InSwitchMode::kCommand}) {
        const double some = on_h100(mode, 16).microseconds();
        for (const std::uint32_t entries : {64U, 256U, 1024U})
            EXPECT_LT(on_h100(mode, entries).microseconds(), 1.005 * some) << entries;
    }
}

TEST(InSwitchTable, MoreAddersNeverSlowAPull) {
    std::vector<double> us;
    for (const std::uint32_t adders : {2U, 4U, 8U}) {
        Case run = on_h100(InSwitchMode::kPull, 256);
        run.machine.node.reduction->adder_rate = gigabytes_per_second(4);
        run.machine.node.reduction->adders = adders;
        us.push_back(run.microseconds());
    }
    EXPECT_LT(us[1], us[0]);
    EXPECT_LT(us[2], 1.005 * us[1]);
}

TEST(InSwitchTable, SlowAddersTakeEachTypeAtItsRate) {
    // Adders far slower than the links: all of a port's operands pass its adder.
    const auto us = [](Datatype type, std::uint32_t elements, Accumulation accumulation) {
        Case run{TestMachine::hgx(8), InSwitchMode::kPull, true, 8ULL << 20U, type};
        ReductionUnitParams& unit = *run.machine.node.reduction;
        unit.adder_rate = gigabytes_per_second(1);
        unit.accumulation = accumulation;
        unit.float16_elements = elements;
        return run.microseconds();
    };
    // 8 MiB over 18 lanes of 1 GB/s.
    const double floats = us(Datatype::kFloat32, 0, Accumulation::kFloat32);
    EXPECT_NEAR(floats, 8.0 * (1 << 20) / 18e3, 0.06 * floats);
    EXPECT_NEAR(us(Datatype::kFloat16, 0, Accumulation::kFloat32) / floats, 2, 0.06);
    EXPECT_NEAR(us(Datatype::kFloat16, 0, Accumulation::kElement) / floats, 1, 0.01);
    EXPECT_NEAR(us(Datatype::kFloat16, 2, Accumulation::kFloat32) / floats, 1, 0.01);
    EXPECT_NEAR(us(Datatype::kFloat16, 4, Accumulation::kFloat32) / floats, 0.5, 0.03);
}

}  // namespace
}  // namespace switchfold::in_switch_table_test
