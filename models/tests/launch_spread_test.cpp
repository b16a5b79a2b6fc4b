// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/launch_spread.h"

#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace switchfold::launch_spread_test {
namespace {

TEST(LaunchSpread, TheLatestOfMoreIsLater) {
    EXPECT_EQ(latest_of(nanoseconds(600), 0), Time());
    EXPECT_EQ(latest_of(nanoseconds(600), 1), Time());
    EXPECT_EQ(latest_of(nanoseconds(600), 2), nanoseconds(300));
    EXPECT_EQ(latest_of(nanoseconds(600), 3), nanoseconds(500));
    EXPECT_NEAR(to_seconds(latest_of(nanoseconds(600), 7)), 0.956e-6, 0.001e-6);
}

/// Time by which a spread of 1 us delays a collective of so many ranks.
double delay(CollectiveKind kind, std::uint32_t ranks) {
    const auto seconds = [&](Time spread) {
        CollectiveParams params = TestMachine::params();
        params.launch_spread = spread;
        TestMachine machine(TestMachine::hgx(ranks).build(), params, CollectivePolicy{});
        CollectiveOperation operation;
        operation.kind = kind;
        operation.bytes = kibibytes(64);
        const CollectiveRecord record = machine.run(operation);
        EXPECT_EQ(machine.ended, ranks);
        return to_seconds(record.end - record.start);
    };
    return seconds(microseconds(1)) - seconds(Time());
}

/// A rank of an all-to-all awaits all others at once. Rings and trees pass delays on.
TEST(LaunchSpread, WhoAwaitsSeveralAwaitsTheLatest) {
    EXPECT_EQ(delay(CollectiveKind::kAllToAll, 2), 0);
    EXPECT_NEAR(delay(CollectiveKind::kAllToAll, 4), 0.833e-6, 0.001e-6);
    EXPECT_NEAR(delay(CollectiveKind::kAllToAll, 8), 1.593e-6, 0.001e-6);
    EXPECT_EQ(delay(CollectiveKind::kScatter, 4), 0);
    EXPECT_EQ(delay(CollectiveKind::kAllReduce, 4), 0);
    EXPECT_EQ(delay(CollectiveKind::kAllGather, 4), 0);
}

}  // namespace
}  // namespace switchfold::launch_spread_test
