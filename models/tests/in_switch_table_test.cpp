// SPDX-License-Identifier: Apache-2.0
// The table, buffer and adders of reduction units under all-reduces: what a packet is must not
// matter, and more must not be slower.
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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

/// One to four switches, 2 to 16 GPUs.
SwitchedTopology any_star() {
    SwitchedTopology t = TestMachine::hgx(*rc::gen::inRange(2U, 17U));
    t.lanes_to_switch.resize(*rc::gen::inRange<std::size_t>(1, 5));
    for (std::uint32_t& lanes : t.lanes_to_switch)
        lanes = *rc::gen::inRange(1U, 6U);
    t.node.reduction->timeout = Time(0);
    return t;
}

Case any_run() {
    Case run;
    run.machine = any_star();
    run.mode = *rc::gen::element(InSwitchMode::kPull, InSwitchMode::kPush);
    run.registered = *rc::gen::arbitrary<bool>();
    run.bytes = std::uint64_t{64 << 10U} << *rc::gen::inRange(0U, 6U);
    run.machine.node.reduction->entries = 1U << *rc::gen::inRange(0U, 11U);
    return run;
}

RC_GTEST_PROP(InSwitchTable, TimesDoNotDependOnTheTransferUnit, ()) {
    const Case run = any_run();
    const double lines = run.microseconds(128);
    const std::uint64_t unit = std::uint64_t{256} << *rc::gen::inRange(0U, 9U);
    const double us = run.microseconds(unit);
    RC_LOG() << run.machine.gpus << " GPUs, " << run.machine.lanes_to_switch.size()
             << " switches, mode " << static_cast<int>(run.mode) << ", registered "
             << run.registered << ", " << run.bytes << " B, " << run.machine.node.reduction->entries
             << " entries: " << lines << " us, " << us << " with " << unit << " B\n";
    RC_ASSERT(us < 1.01 * lines);
    RC_ASSERT(lines < 1.01 * us);
}

RC_GTEST_PROP(InSwitchTable, MoreIsNeverSlower, ()) {
    Case run = any_run();
    ReductionUnitParams& unit = *run.machine.node.reduction;
    unit.buffer = Bytes(std::uint64_t{128} << *rc::gen::inRange(0U, 11U));
    unit.adder_rate = gigabytes_per_second(*rc::gen::inRange<std::uint64_t>(1, 40));
    const double before = run.microseconds();
    const int what = *rc::gen::inRange(0, 3);
    const std::uint32_t times = 1U << *rc::gen::inRange(1U, 6U);
    if (what == 0)
        unit.entries *= times;
    else if (what == 1)
        unit.buffer = unit.buffer * times;
    else
        unit.adders *= times;
    const double after = run.microseconds();
    RC_LOG() << run.machine.gpus << " GPUs, " << run.machine.lanes_to_switch.size()
             << " switches, mode " << static_cast<int>(run.mode) << ", registered "
             << run.registered << ", " << run.bytes << " B, " << what << " times " << times
             << " to " << unit.entries << " " << unit.buffer.count() << " " << unit.adders << ": "
             << before << " us, then " << after << "\n";
    RC_ASSERT(after < 1.01 * before);
}

TEST(InSwitchTable, EachEntryCountsFromOneOn) {
    // Few entries: a pull moves a line an entry and round trip, so twice as many take half the
    // time of what is not latency.
    for (const InSwitchMode mode : {InSwitchMode::kPull, InSwitchMode::kPush}) {
        std::vector<double> us;
        for (const std::uint32_t entries : {1U, 2U, 4U}) {
            Case run{TestMachine::hgx(8), mode, true, 4ULL << 20U};
            run.machine.node.reduction->entries = entries;
            run.machine.node.reduction->timeout = Time(0);
            us.push_back(run.microseconds());
        }
        EXPECT_GT(us[0], 1.5 * us[1]) << static_cast<int>(mode);
        EXPECT_GT(us[1], 1.4 * us[2]) << static_cast<int>(mode);
    }
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
