// SPDX-License-Identifier: Apache-2.0
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace switchfold::ll_rounds_test {
namespace {

constexpr std::uint32_t kRanks = 4;
constexpr double kRound = 4096 / 6e9;  // s: 512 threads, 8 bytes each, at a block's rate

/// Time of a ring, or of an all-to-all, in which each rank's share is so many bytes, on one
/// channel.
double seconds_of(
    const CollectiveParams& params, CollectiveKind kind, std::uint64_t share,
    Datatype type = Datatype::kFloat32) {
    const bool exchanges = kind == CollectiveKind::kAllToAll;
    TestMachine machine(
        TestMachine::hgx(kRanks).build(), params,
        {exchanges ? Algorithm::kAuto : Algorithm::kRing, Protocol::kLl, 1, false});
    CollectiveOperation operation;
    operation.kind = kind;
    operation.datatype = type;
    operation.bytes = Bytes(kRanks * share);
    const CollectiveRecord record = machine.run(operation);
    EXPECT_EQ(machine.ended, kRanks);
    return to_seconds(record.end - record.start);
}

double seconds(
    CollectiveKind kind, std::uint64_t share, std::uint64_t unit = 4096,
    Time slice_overhead = Time()) {
    CollectiveParams params = TestMachine::params();
    params.ll.slice_overhead = slice_overhead;
    params.ll.hop_overhead = nanoseconds(100);  // less than a round: rounds set the pace
    params.transfer_unit = Bytes(unit);
    return seconds_of(params, kind, share);
}

/// A round takes as long for one thread as for all that the block has: 96 up to shares of 1 KiB,
/// 256 up to 4 KiB. Fewer threads have shorter rounds.
TEST(LlRounds, AShareUpToARoundCostsOne) {
    const double smallest = seconds(CollectiveKind::kAllReduce, 768);
    EXPECT_NEAR(seconds(CollectiveKind::kAllReduce, 16), smallest, 0.2e-6);
    EXPECT_NEAR(seconds(CollectiveKind::kAllReduce, 256), smallest, 0.2e-6);
    const double half = seconds(CollectiveKind::kAllReduce, 2048);
    const double whole = seconds(CollectiveKind::kAllReduce, 4096);
    EXPECT_LT(smallest, half);
    EXPECT_LT(half, whole);
}

/// A share of one round and a line costs two rounds in each of a block's primitives: it sends to
/// its successor 2 (n - 1) times and receives once more.
TEST(LlRounds, ALittleMoreCostsAnotherRoundAtEachStep) {
    const double one = seconds(CollectiveKind::kAllReduce, 4096);
    const double more = seconds(CollectiveKind::kAllReduce, 4096 + 16);
    const double two = seconds(CollectiveKind::kAllReduce, 8192);
    constexpr double kSteps = 2 * (kRanks - 1) + 1;
    EXPECT_NEAR(more - one, kSteps * kRound, 0.05 * kRound);
    EXPECT_NEAR(two, more, 0.25 * kRound);
    EXPECT_NEAR(seconds(CollectiveKind::kAllReduce, 12288) - two, kSteps * kRound, 0.05 * kRound);
}

/// What a primitive takes besides its rounds does not overlap with them. After the last one nothing
/// is left to wait for it.
TEST(LlRounds, APrimitiveTakesItsOverheadOnce) {
    constexpr double kSteps = 2 * (kRanks - 1);
    for (const std::uint64_t share : {4096U, 8192U, 16384U}) {
        const double more = seconds(CollectiveKind::kAllReduce, share, 4096, microseconds(2)) -
                            seconds(CollectiveKind::kAllReduce, share);
        EXPECT_NEAR(more, kSteps * 2e-6, 0.1e-6) << share;
    }
}

/// Four peers of a block have two warps each way: an eighth of a round's data in the same time.
/// Measured: 5 GB/s a block of 8 GB300 with 9 of 16 warps, 4.4 of 64 with 8 (nccl_issues.csv),
/// where rings of B200 take 8.8.
TEST(LlRounds, AnExchangesAreAsLongAsARings) {
    constexpr std::uint64_t kOfAPeer = 512;
    const auto exchange = [](std::uint64_t rounds) {
        return seconds(CollectiveKind::kAllToAll, rounds * kOfAPeer, kOfAPeer);
    };
    EXPECT_NEAR(exchange(256) - exchange(64), 192 * kRound, 2 * kRound);
}

/// Threads hand on lines by rounds, however the model cuts bytes.
TEST(LlRounds, DoNotDependOnTheTransferUnit) {
    for (const std::uint64_t share : {1024U, 4112U, 9000U / 16 * 16, 20'480U, 65'536U}) {
        const double usual = seconds(CollectiveKind::kAllGather, share);
        for (const std::uint64_t unit : {128U, 512U, 1024U, 16'384U})
            EXPECT_EQ(seconds(CollectiveKind::kAllGather, share, unit), usual)
                << share << " " << unit;
    }
}

/// Seconds by which a rank's own stores, 1 us a round of single bytes of which 0.4 us are hidden,
/// prolong a ring.
double of_stores(CollectiveKind kind, std::uint64_t share, Datatype type) {
    CollectiveParams params = TestMachine::params();
    params.ll.hop_overhead = nanoseconds(3000);  // more than a round: hops set the pace
    const double none = seconds_of(params, kind, share, type);
    params.ll.byte_stores = Bandwidth(4'096'000'000);
    params.ll.hidden_stores = nanoseconds(400);
    return seconds_of(params, kind, share, type) - none;
}

/// An all-gather stores bytes, whatever its type, in each of a block's primitives that receives.
/// The other kinds store elements: a reduce-scatter in its last primitive, an all-reduce in n.
TEST(LlRounds, StoresToTheOwnBufferDelayWhatIsSent) {
    constexpr double kBytes = 0.6e-6;
    constexpr double kHalves = 0.1e-6;
    constexpr double kUnit = 0.03e-6;  // the last one of a round follows the first
    for (const Datatype type : {Datatype::kInt8, Datatype::kFloat32})
        EXPECT_NEAR(
            of_stores(CollectiveKind::kAllGather, 4096, type), (kRanks - 1) * kBytes, kUnit);
    EXPECT_NEAR(of_stores(CollectiveKind::kReduceScatter, 4096, Datatype::kInt8), kBytes, kUnit);
    EXPECT_NEAR(
        of_stores(CollectiveKind::kAllReduce, 4096, Datatype::kInt8), kRanks * kBytes, kUnit);
    EXPECT_NEAR(
        of_stores(CollectiveKind::kAllReduce, 4096, Datatype::kFloat16), kRanks * kHalves, kUnit);
    EXPECT_EQ(of_stores(CollectiveKind::kAllReduce, 4096, Datatype::kFloat32), 0);
    EXPECT_EQ(of_stores(CollectiveKind::kAllGather, 1024, Datatype::kFloat32), 0);
}

}  // namespace
}  // namespace switchfold::ll_rounds_test
