// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/simulation.h"
#include "core/params_reader.h"
#include "core/params_writer.h"
#include "interconnect/reduction_policy.h"
#include "interconnect/tests/pusher.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace switchfold::unit_tenants_test {
namespace {

/// Anybody's order: by the line's address, in some rhythm.
struct SomeOrder final : ReductionPolicy {
    SomeOrder(std::uint64_t of, bool takes) : rhythm(of), evicts(takes) {}
    [[nodiscard]] std::uint32_t
    victim(const ReductionUnit& unit, TreeRole role, const Packet& /*waiting*/) const override {
        return evicts ? unit.oldest(role) : ReductionUnit::kNone;
    }
    [[nodiscard]] std::uint32_t
    precedence(const ReductionUnit& /*unit*/, const Packet& waiting) const override {
        return static_cast<std::uint32_t>(waiting.tag % rhythm);
    }
    [[nodiscard]] bool orders() const override { return true; }
    std::uint64_t rhythm;
    bool evicts;
};

std::vector<std::uint32_t> first_half(std::uint32_t gpus) {
    std::vector<std::uint32_t> ranks((gpus + 1) / 2);
    std::iota(ranks.begin(), ranks.end(), 0U);
    return ranks;
}

/// One half of the GPUs with a quota, perhaps, and all GPUs together, who are nobody's.
std::vector<UnitTenant> halves(std::uint32_t gpus, std::uint32_t quota, std::uint32_t priority) {
    return {{first_half(gpus), quota, priority}};
}

void push_all(Pusher& pusher, std::uint64_t lines, std::uint64_t skew) {
    const auto members = static_cast<std::uint32_t>(pusher.ranks.size());
    for (std::uint32_t m = 0; m < members; ++m)
        for (std::uint64_t i = 0; i < lines; ++i) {
            const std::uint64_t line = (i + m * skew) % lines;
            pusher.push(m, line, {static_cast<float>((m + 1) * (line + 1))});
        }
}

void expect_sums(const Pusher& pusher, std::uint64_t lines) {
    const std::uint64_t n = pusher.ranks.size();
    RC_ASSERT(pusher.arrived.size() == lines * n);
    for (const auto& [key, sum] : pusher.sums)
        RC_ASSERT(sum == std::vector<float>{static_cast<float>((key.first + 1) * n * (n + 1) / 2)});
}

RC_GTEST_PROP(UnitTenants, WhateverTheirQuotasNoContributionIsLostOrCountedTwice, ()) {
    ReductionUnitParams unit = any_unit();
    const std::uint32_t gpus = *rc::gen::inRange(4U, 9U);
    // Nobody's groups need a line.
    const std::uint32_t quota = unit.entries == 1 ? 0 : *rc::gen::inRange(0U, unit.entries);
    unit.tenants = halves(gpus, quota, *rc::gen::inRange(0U, 3U));
    if (*rc::gen::arbitrary<bool>())
        unit.policy = std::make_shared<SomeOrder>(
            *rc::gen::inRange<std::uint64_t>(1, 5), unit.when_full == WhenFull::kEvict);
    unit.watch_entries = *rc::gen::arbitrary<bool>();
    if (*rc::gen::arbitrary<bool>())
        unit.units = *rc::gen::inRange(1U, 4U);
    Simulation simulation;
    Fabric fabric("fabric", family(*rc::gen::inRange(0, 3), gpus, unit), simulation.scheduler());
    Pusher half(fabric, ElementType::kFloat32, first_half(gpus));
    Pusher all(fabric, ElementType::kFloat32);
    RC_ASSERT(half.refused.empty() && all.refused.empty());
    const std::uint64_t lines = *rc::gen::inRange<std::uint64_t>(1, 60);
    push_all(half, lines, *rc::gen::inRange<std::uint64_t>(0, 20));
    push_all(all, lines, *rc::gen::inRange<std::uint64_t>(0, 20));
    simulation.run();
    expect_sums(half, lines);
    expect_sums(all, lines);
    RC_ASSERT(fabric.values().live() == 0U);
    expect_clean(fabric);
}

/// When a half of the GPUs is done whose push comes behind a longer one of all GPUs.
Time end_of_half(std::uint32_t quota, std::uint32_t priority) {
    ReductionUnitParams unit;
    unit.entries = 2;
    unit.timeout = Time();
    unit.latency = nanoseconds(500);
    unit.tenants = halves(4, quota, priority);
    Simulation simulation;
    Fabric fabric("fabric", two_boards(4, unit), simulation.scheduler());
    Pusher all(fabric, ElementType::kFloat32);
    Pusher half(fabric, ElementType::kFloat32, first_half(4));
    push_all(all, 200, 0);
    push_all(half, 20, 0);
    simulation.run();
    EXPECT_EQ(all.arrived.size(), 800U);
    EXPECT_EQ(half.arrived.size(), 40U);
    return half.last;
}

TEST(UnitTenants, PriorityAndQuotaBothBringTheShorterPushForward) {
    const Time as_they_come = end_of_half(0, 0);
    EXPECT_LT(end_of_half(0, 1), as_they_come);
    EXPECT_LT(end_of_half(1, 0), as_they_come);
}

ReductionUnitParams shared(std::uint32_t first, std::uint32_t second) {
    ReductionUnitParams unit;
    unit.entries = 4;
    unit.buffer = Bytes(4096);
    unit.tenants = {{{0, 1}, first, 1}, {{2, 3}, second, 0}};
    return unit;
}

Packet line_of(std::uint16_t group, std::uint64_t tag) {
    Packet packet;
    packet.kind = PacketKind::kReducePush;
    packet.group = group;
    packet.tag = tag;
    packet.payload = 128;
    packet.count = 1;
    return packet;
}

TEST(UnitTenants, AQuotaIsKeptForItsTenantAndIsAllThatItGets) {
    ReductionUnit unit(shared(3, 0), 1);
    ASSERT_TRUE(unit.admit(5, 0));
    ASSERT_TRUE(unit.admit(6, 1));
    const auto opens = [&](std::uint16_t group, std::uint64_t tag) {
        return unit.push(line_of(group, tag), TreeRole::kRoot, 2, {}, Time()).has_value();
    };
    EXPECT_TRUE(opens(6, 0));
    EXPECT_FALSE(opens(6, 1)) << "one of four is left beside the quota";
    EXPECT_TRUE(opens(5, 0));
    EXPECT_TRUE(opens(5, 1));
    EXPECT_TRUE(opens(5, 2));
    EXPECT_FALSE(opens(5, 3));
    EXPECT_FALSE(unit.share_entries(5, 6));
    EXPECT_EQ(unit.entries_used(), 4U);
}

TEST(UnitTenants, WhoHasNoQuotaIsRefusedWhereNothingIsLeft) {
    ReductionUnit unit(shared(2, 2), 1);
    EXPECT_TRUE(unit.admit(1, 0));
    EXPECT_TRUE(unit.admit(2, 1));
    EXPECT_FALSE(unit.admit(3, 2)) << "groups of no tenant";
}

TEST(UnitTenants, TheFirstThatHasAllGpusIsTheOne) {
    const std::vector<UnitTenant> tenants{{{0, 1}}, {{2, 3, 4}}};
    const auto of = [&](std::vector<std::uint32_t> ranks) { return tenant_of(tenants, ranks); };
    EXPECT_EQ(of({1, 0}), 0U);
    EXPECT_EQ(of({2, 4}), 1U);
    EXPECT_EQ(of({1, 2}), 2U);
}

TEST(UnitTenants, OfSeveralUnitsALaneHasTheirTables) {
    ReductionUnitParams params = shared(3, 0);
    params.units = 2;
    ReductionUnit unit(params, 1);
    ASSERT_TRUE(unit.admit(5, 0));
    for (std::uint64_t tag = 0; tag < 6; ++tag)
        EXPECT_TRUE(unit.push(line_of(5, tag), TreeRole::kRoot, 2, {}, Time()).has_value());
    EXPECT_FALSE(unit.push(line_of(5, 6), TreeRole::kRoot, 2, {}, Time()).has_value());
}

std::string problem(const char* json) {
    try {
        static_cast<void>(read_params<ReductionUnitParams>(Json::parse(json), "unit"));
        return {};
    } catch (const ConfigError& error) {
        return error.what();
    }
}

TEST(UnitTenants, QuotasThatDoNotFitAreRefused) {
    EXPECT_EQ(problem(R"({"entries": 8, "tenants": [{"gpus": [0], "entries": 8}]})"), "");
    EXPECT_EQ(
        problem(R"({"entries": 8, "tenants": [{"gpus": [0], "entries": 5},
                                              {"gpus": [1], "entries": 4}]})"),
        "unit: /tenants: have quotas of 9 entries together, and the table has 8; expected no more "
        "than that");
    EXPECT_EQ(
        problem(R"({"tenants": [{"gpus": [0, 1]}, {"gpus": [1]}]})"),
        "unit: /tenants/1/gpus: has GPU 1 again; expected each GPU with one tenant");
    EXPECT_NE(
        problem(R"({"when_full": "refuse", "tenants": [{"gpus": [0]}]})").find("expected stall"),
        std::string::npos);
    EXPECT_EQ(problem(R"({"tenants": []})"), "unit: /tenants: are 0; expected 1 to 64");
}

TEST(UnitTenants, KnobsThatNobodyTurnedAreInNoEffectiveConfiguration) {
    const OrderedJson bare = write_value(ReductionUnitParams());
    for (const char* knob : {"units", "place", "tenants", "watch_entries"})
        EXPECT_FALSE(bare.contains(knob)) << knob;
    EXPECT_TRUE(write_value(shared(1, 1)).contains("tenants"));
}

TEST(Entries, WaitForMembersAddersAndTheWayOut) {
    ReductionUnitParams params;
    params.watch_entries = true;
    params.latency = nanoseconds(50);
    params.adder_rate = gigabytes_per_second(1);  // 128 ns a line
    ReductionUnit unit(params, 1);
    const Packet line = line_of(1, 0);
    ASSERT_TRUE(unit.push(line, TreeRole::kRoot, 2, {}, nanoseconds(1000)));
    const auto last = unit.push(line, TreeRole::kRoot, 2, {}, nanoseconds(1600));
    ASSERT_TRUE(last && last->ready);
    EXPECT_EQ(last->ready->last, nanoseconds(1600 + 128 + 50));
    unit.close(last->line, true, 1, nanoseconds(2000));
    const EntryStatistics& told = *unit.entry_statistics();
    EXPECT_EQ(told.lines, 1U);
    EXPECT_EQ(told.members, nanoseconds(600));
    EXPECT_EQ(told.adders, nanoseconds(178));
    EXPECT_EQ(told.output, nanoseconds(222));
    EXPECT_EQ(ReductionUnit({}, 1).entry_statistics(), nullptr);
}

}  // namespace
}  // namespace switchfold::unit_tenants_test
