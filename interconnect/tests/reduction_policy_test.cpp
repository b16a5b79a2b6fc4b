// SPDX-License-Identifier: Apache-2.0
#include "interconnect/reduction_policy.h"

#include "core/error.h"
#include "core/kernel/simulation.h"
#include "interconnect/tests/pusher.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <vector>

namespace switchfold::reduction_policy_test {
namespace {

/// A policy as a user might write it: evicts the line with the fewest operands.
struct FewestLeave final : ReductionPolicy {
    [[nodiscard]] std::uint32_t
    victim(const ReductionUnit& unit, TreeRole role, const Packet& /*waiting*/) const override {
        std::uint32_t fewest = unit.oldest(role);
        for (std::uint32_t i = fewest; i != ReductionUnit::kNone; i = unit.line(i).newer)
            if (unit.line(i).count < unit.line(fewest).count)
                fewest = i;
        return fewest;
    }
};

/// Evicts the newest line, so that nearly complete lines stay.
struct NewestLeaves final : ReductionPolicy {
    [[nodiscard]] std::uint32_t
    victim(const ReductionUnit& unit, TreeRole role, const Packet& /*waiting*/) const override {
        std::uint32_t newest = unit.oldest(role);
        while (newest != ReductionUnit::kNone && unit.line(newest).newer != ReductionUnit::kNone)
            newest = unit.line(newest).newer;
        return newest;
    }
};

std::shared_ptr<const ReductionPolicy> policy_of(int index) {
    return index == 0   ? reduction_policy(WhenFull::kEvict)
           : index == 1 ? reduction_policy(WhenFull::kStall)
           : index == 2 ? std::make_shared<FewestLeave>()
                        : std::shared_ptr<const ReductionPolicy>(std::make_shared<NewestLeaves>());
}

RC_GTEST_PROP(ReductionPolicyProperty, WhoeverLeavesNoContributionIsLostOrCountedTwice, ()) {
    const ReductionUnitParams unit = any_unit();
    const std::uint32_t gpus = *rc::gen::inRange(2U, 9U);
    Simulation simulation;
    Fabric fabric("fabric", family(*rc::gen::inRange(0, 3), gpus, unit), simulation.scheduler());
    fabric.set_reduction_policy(policy_of(*rc::gen::inRange(0, 4)));
    Pusher pusher(fabric, ElementType::kFloat32);
    const std::uint64_t lines = *rc::gen::inRange<std::uint64_t>(1, 60);
    const std::uint64_t skew = *rc::gen::inRange<std::uint64_t>(0, 20);
    std::vector<float> expected(lines);
    for (std::uint32_t m = 0; m < gpus; ++m)
        for (std::uint64_t i = 0; i < lines; ++i) {
            const std::uint64_t line = (i + m * skew) % lines;
            const auto value = static_cast<float>((m + 1) * (line + 1));
            expected[line] += value;
            pusher.push(m, line, {value});
        }
    simulation.run();
    RC_ASSERT(pusher.arrived.size() == lines * gpus);
    for (const auto& [key, sum] : pusher.sums)
        RC_ASSERT(sum == std::vector<float>{expected[key.first]});
    RC_ASSERT(fabric.values().live() == 0U);
    expect_clean(fabric);
}

/// Number of evictions from units of four entries when every member starts at a different line.
/// `own`: the parameters' policy.
std::uint64_t evictions(
    const std::shared_ptr<const ReductionPolicy>& policy,
    const std::shared_ptr<const ReductionPolicy>& own = nullptr) {
    ReductionUnitParams unit;
    unit.entries = 4;
    unit.policy = own;
    Simulation simulation;
    Fabric fabric("fabric", one_level(4, unit), simulation.scheduler());
    if (policy)
        fabric.set_reduction_policy(policy);
    Pusher pusher(fabric, ElementType::kFloat32);
    for (std::uint32_t m = 0; m < 4; ++m)
        for (std::uint64_t i = 0; i < 64; ++i)
            pusher.push(m, (i + 16 * m) % 64, {1.0F});
    simulation.run();
    EXPECT_EQ(pusher.arrived.size(), 256U);
    return total(fabric).evictions;
}

TEST(ReductionPolicy, TakesThePlaceOfWhatTheParametersSay) {
    EXPECT_EQ(evictions(nullptr), 0U);  // when_full is stall
    EXPECT_EQ(evictions(reduction_policy(WhenFull::kStall)), 0U);
    EXPECT_GT(evictions(reduction_policy(WhenFull::kEvict)), 0U);
    EXPECT_GT(evictions(std::make_shared<FewestLeave>()), 0U);
}

TEST(ReductionPolicy, ComesWithTheParametersToo) {
    EXPECT_GT(evictions(nullptr, std::make_shared<FewestLeave>()), 0U);
    EXPECT_EQ(evictions(reduction_policy(WhenFull::kStall), std::make_shared<FewestLeave>()), 0U)
        << "what the fabric is told later holds";
}

struct NamesAnything final : ReductionPolicy {
    [[nodiscard]] std::uint32_t
    victim(const ReductionUnit& unit, TreeRole /*role*/, const Packet& /*waiting*/) const override {
        return static_cast<std::uint32_t>(unit.lines());
    }
};

TEST(ReductionPolicy, ALineThatIsNotThereIsABug) {
    EXPECT_THROW(evictions(std::make_shared<NamesAnything>()), InternalError);
}

}  // namespace
}  // namespace switchfold::reduction_policy_test
