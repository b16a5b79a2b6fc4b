// SPDX-License-Identifier: Apache-2.0
// What a recalled collective does beside kernels, and when its members end: the parts without a
// clock.
#include "models/collectives/shortcuts/carried_offsets.h"
#include "models/collectives/shortcuts/joined_apart.h"
#include "models/collectives/shortcuts/pace_beside_kernels.h"
#include "models/collectives/shortcuts/passage.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

namespace switchfold::paces_test {
namespace {

constexpr double kLong = 1e-3;
constexpr double kDemanding = 0.9;

TEST(PaceBesideKernels, IsWhatWasMeasuredBesideKernelsThatLeaveAsMuch) {
    PaceBesideKernels pace;
    EXPECT_TRUE(pace.nothing());
    pace.add(1, 2 * kLong, 2 * kLong * 100e9);
    pace.add(0.6, kLong, kLong * 80e9);
    EXPECT_FALSE(pace.nothing());
    EXPECT_DOUBLE_EQ(*pace.at(1, kDemanding), 1);
    EXPECT_NEAR(*pace.at(0.6, kDemanding), 0.8, 1e-9);
    EXPECT_NEAR(*pace.at(0.63, kDemanding), 0.815, 1e-9);
    EXPECT_FALSE(pace.at(0.8, kDemanding)) << "too far from both";
    EXPECT_FALSE(pace.at(0.4, kDemanding));
    EXPECT_NEAR(pace.guess(0.8, kDemanding), 0.8 / kDemanding, 1e-9);
    EXPECT_NEAR(pace.guess(0.45, kDemanding), 0.5, 1e-9) << "what is left, of what it needs";
}

TEST(PaceBesideKernels, OfOneThatNeedsLittleIsItsOwn) {
    PaceBesideKernels pace;
    pace.add(1, kLong, kLong * 100e9);
    EXPECT_DOUBLE_EQ(*pace.at(0.5, 0.2), 1);
    EXPECT_FALSE(pace.at(0.5, 0.3));
}

TEST(PaceBesideKernels, BetweenEqualPacesThereIsNoOther) {
    PaceBesideKernels pace;
    pace.add(1, 2 * kLong, 2 * kLong * 100e9);
    pace.add(0.5, kLong, kLong * 99e9);
    EXPECT_NEAR(*pace.at(0.75, kDemanding), 0.995, 0.006);
}

RC_GTEST_PROP(PaceBesideKernels, MoreBandwidthGainsAtMostItsShare, ()) {
    PaceBesideKernels pace;
    const auto share = [] { return *rc::gen::inRange(30, 101) / 100.0; };
    for (int i = *rc::gen::inRange(1, 6); i > 0; --i)
        pace.add(share(), kLong, kLong * *rc::gen::inRange(10, 200) * 1e9);
    const double demand = share();
    const double left = share();
    const double one = pace.at(left, demand).value_or(pace.guess(left, demand));
    RC_ASSERT(one > 0);
    RC_ASSERT(one <= 1 / 0.3 + 1e-9);
    RC_ASSERT(one >= 0.3 - 1e-9);
}

RecordedCollective run_of(const std::vector<std::uint64_t>& ends) {
    RecordedCollective run;
    for (std::uint32_t i = 0; i < ends.size(); ++i)
        run.told.push_back({microseconds(ends[i]), 0, i, 0, 0});
    run.joining.lags.assign(ends.size(), Time());
    run.begins = microseconds(10);
    run.accessed.assign(ends.size(), 1e6);
    return run;
}

TEST(Passage, GoesAtTheRecordedPaceOrAnother) {
    RecordedCollective run = run_of({110, 112});
    run.count_work([](double) { return 1.0; });
    Passage passage(run, 1, microseconds(1000));
    EXPECT_EQ(passage.next_at(), microseconds(1110));
    EXPECT_NEAR(passage.done(microseconds(1060)), 0.5, 1e-9);
    passage.go_on(0.5, microseconds(1060));
    EXPECT_NEAR(passage.done(microseconds(1060)), 0.5, 1e-9);
    EXPECT_EQ(passage.next_at(), microseconds(1160));
    passage.tell(microseconds(1160));
    EXPECT_EQ(passage.next_at(), microseconds(1162)) << "as far behind the first as it was";
    passage.tell(microseconds(1162));
    EXPECT_TRUE(passage.over());
}

TEST(Passage, OfOneRecordedBesideKernelsIsFasterWithoutThem) {
    RecordedCollective run = run_of({110});
    run.legs = {{Time(), 1}, {microseconds(30), 0.5}};
    run.flows = {{Time(), 0, 0, 0}, {microseconds(10), 2e9, 0, 0}, {microseconds(30), 1e9, 0, 0}};
    run.count_work([](double left) { return left < 1 ? 0.5 : 1.0; });
    EXPECT_DOUBLE_EQ(run.first_work(), 70e6);
    Passage passage(run, 1, Time());
    EXPECT_EQ(passage.next_at(), microseconds(70));
    EXPECT_DOUBLE_EQ(passage.flow(microseconds(5)), 0);
    EXPECT_EQ(passage.flow_changes(), microseconds(10));
    EXPECT_NEAR(passage.flow(microseconds(10)), 2e9, 1);
    EXPECT_NEAR(passage.flow(microseconds(40)), 2e9, 1) << "half of it at half the pace";
    EXPECT_EQ(passage.flow_changes(), std::nullopt);
}

TEST(RecordedCollective, AsksForThePaceOfALegOnce) {
    RecordedCollective run = run_of({20, 40, 60, 80});
    run.legs = {{Time(), 1}, {microseconds(30), 0.5}, {microseconds(50), 0.25}};
    for (const std::uint64_t from : {0, 10, 35, 55})
        run.flows.push_back({microseconds(from), 1e9, 0, 0});
    run.told.front().left = 1;
    int asked = 0;
    run.count_work([&](double left) {
        ++asked;
        return left;
    });
    EXPECT_EQ(asked, 3);
    EXPECT_DOUBLE_EQ(run.before_work, 10e6);
    EXPECT_DOUBLE_EQ(run.told[0].work, 20e6);
    EXPECT_DOUBLE_EQ(run.told[1].work, 35e6);
    EXPECT_DOUBLE_EQ(run.told[3].work, 35e6) << "the first is done by then";
    EXPECT_DOUBLE_EQ(run.flows[2].work, 32.5e6);
    EXPECT_DOUBLE_EQ(run.flows[3].work, 41.25e6);
    EXPECT_DOUBLE_EQ(run.flows[3].each, 4e-3);
}

TEST(CarriedOffsets, AreLearntFromMembersThatCameApart) {
    CarriedOffsets ring;
    CarriedOffsets in_switch;
    RecordedCollective carried = run_of({96, 98, 100, 93});
    carried.joining.lags = {microseconds(4), microseconds(2), Time(), microseconds(7)};
    RecordedCollective at_once = run_of({100, 100, 100, 100});
    at_once.joining.lags = carried.joining.lags;
    ring.add(run_of({100, 100, 100, 100}));
    EXPECT_FALSE(ring.carried()) << "nobody came apart";
    ring.add(carried);
    in_switch.add(at_once);
    EXPECT_TRUE(ring.carried());
    EXPECT_FALSE(in_switch.carried());
    // Each takes as long as before, whoever comes first.
    const std::vector<Time> lags{Time(), microseconds(3), microseconds(1), Time()};
    const RecordedCollective moved = ring.moved(carried, lags);
    for (const RecordedCollective::Told& told : moved.told)
        EXPECT_NEAR(to_microseconds(told.at), 100 - to_microseconds(lags[told.position]), 0.01);
    EXPECT_TRUE(
        std::is_sorted(moved.told.begin(), moved.told.end(), [](const auto& a, const auto& b) {
            return a.at < b.at;
        }));
}

TEST(JoinedApart, TheNearestPassesAsItDid) {
    RecordedCollective ring = run_of({960, 1000, 990, 930});
    ring.joining.late = true;
    ring.joining.lags = {microseconds(40), Time(), microseconds(10), microseconds(70)};
    RecordedCollective other = run_of({800, 800, 800, 800});
    other.joining.late = true;
    other.joining.lags = {microseconds(100), Time(), microseconds(100), microseconds(100)};
    JoinedApart apart;
    EXPECT_FALSE(apart.suiting(ring.joining));
    apart.learn(ring);
    apart.learn(other);
    const auto same = apart.suiting(ring.joining);
    ASSERT_TRUE(same);
    EXPECT_EQ(same->told.front().at, microseconds(930));
    RecordedCollective::Joining joining = ring.joining;
    joining.lags[0] += microseconds(2);  // and so it ends earlier, as it would in the ring
    const auto near = apart.suiting(joining);
    ASSERT_TRUE(near);
    for (const RecordedCollective::Told& told : near->told)
        EXPECT_EQ(to_microseconds(told.at) < 930.1, told.position == 3);
    EXPECT_EQ(near->told[1].position, 0U);
    EXPECT_NEAR(to_microseconds(near->told[1].at), 958, 0.2);
    joining.lags[3] += microseconds(3);
    EXPECT_FALSE(apart.suiting(joining)) << "0.3 % of its time is not near";
    // Where all end together, whoever comes first, nobody ends earlier.
    joining = other.joining;
    joining.lags[0] += microseconds(1);
    ASSERT_TRUE(apart.suiting(joining));
    EXPECT_EQ(apart.suiting(joining)->told.back().at, microseconds(800));
}

}  // namespace
}  // namespace switchfold::paces_test
