// SPDX-License-Identifier: Apache-2.0
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace switchfold::byte_sum_test {
namespace {

constexpr std::uint32_t kRanks = 4;
constexpr std::uint64_t kBytes = 4ULL << 20U;

double
seconds(CollectiveKind kind, Datatype type, Protocol protocol, std::uint64_t GBps, bool reads) {
    CollectiveParams params = TestMachine::params();
    params.byte_sum_rate = gigabytes_per_second(GBps);
    params.read_over_link = reads;
    TestMachine machine(
        TestMachine::hgx(kRanks).build(), params, {Algorithm::kRing, protocol, 1, false});
    CollectiveOperation operation;
    operation.kind = kind;
    operation.bytes = Bytes(kBytes);
    operation.datatype = type;
    const CollectiveRecord record = machine.run(operation);
    EXPECT_EQ(machine.ended, kRanks);
    return to_seconds(record.end - record.start);
}

/// A rank adds all shares but one to its own, on one channel whose links keep up.
TEST(ByteSum, EightBitTypesAreAddedAtARateOfTheirOwn) {
    constexpr double kAdded = static_cast<double>(kBytes) / kRanks * (kRanks - 1) / 50e9;
    for (const bool reads : {false, true})
        for (const Protocol protocol : {Protocol::kLl, Protocol::kSimple}) {
            const auto more = [&](CollectiveKind kind) {
                return seconds(kind, Datatype::kInt8, protocol, 50, reads) -
                       seconds(kind, Datatype::kInt8, protocol, 0, reads);
            };
            EXPECT_NEAR(more(CollectiveKind::kReduceScatter), kAdded, 0.15 * kAdded)
                << enum_name(protocol) << reads;
            EXPECT_NEAR(more(CollectiveKind::kAllReduce), kAdded, 0.15 * kAdded)
                << enum_name(protocol) << reads;
            EXPECT_EQ(more(CollectiveKind::kAllGather), 0);
        }
}

TEST(ByteSum, OtherTypesAreAddedAsTheyMove) {
    for (const Datatype type : {Datatype::kFloat16, Datatype::kFloat32})
        EXPECT_EQ(
            seconds(CollectiveKind::kAllReduce, type, Protocol::kSimple, 1, false),
            seconds(CollectiveKind::kAllReduce, type, Protocol::kSimple, 0, false));
}

}  // namespace
}  // namespace switchfold::byte_sum_test
