// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nsight/nccl_ranges.h"
#include "workloads/readers/nvtx/payload.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace switchfold::nccl_payload_test {
namespace {

constexpr std::uint64_t kDomain = 3;
constexpr std::uint64_t kSchema = (1U << 24U) + 5;
constexpr std::uint64_t kSize = 22;
constexpr std::uint64_t kInt = 5;
constexpr std::uint64_t kUint64 = 18;

std::string little_endian(std::uint64_t number, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i)
        text.push_back(static_cast<char>(number >> (8 * i)));
    return text;
}

std::string with_header(const std::string& payload, std::uint64_t schema = kSchema) {
    return little_endian(kDomain, 8) + little_endian(schema, 8) + little_endian(payload.size(), 8) +
           little_endian(32 + payload.size(), 8) + payload;
}

NvtxPayloads payloads() {
    NvtxPayloads known;
    known.add({kDomain, kSchema, "NCCL communicator ID", kUint64, 0});
    known.add({kDomain, kSchema, "Message size [bytes]", kSize, 8});
    known.add({kDomain, kSchema, "Reduction operation", (1U << 24U) - 1, 16});
    known.add({kDomain, kSchema + 1, "No. of ranks", kInt, 8});
    known.add({kDomain, kSchema + 1, "Rank", kInt, 12});
    return known;
}

TEST(NvtxPayloads, AreReadByTheirLayout) {
    const NcclPayload all_reduce = payloads().nccl_payload(with_header(
        little_endian(0xfeedbeef12345678, 8) + little_endian(1ULL << 33U, 8) +
        little_endian(0, 8)));
    EXPECT_EQ(all_reduce.communicator, 0xfeedbeef12345678U);
    EXPECT_EQ(all_reduce.bytes, 1ULL << 33U);
    EXPECT_FALSE(all_reduce.ranks);
    const NcclPayload made = payloads().nccl_payload(
        with_header(little_endian(7, 8) + little_endian(16, 4) + little_endian(3, 4), kSchema + 1));
    EXPECT_EQ(made.ranks, 16U);
    EXPECT_EQ(made.rank, 3U);
}

TEST(NvtxPayloads, WhatIsCutOrOfAnotherLayoutIsNotThere) {
    const std::string whole = with_header(little_endian(1, 8) + little_endian(4096, 8));
    EXPECT_EQ(payloads().nccl_payload(whole).bytes, 4096U);
    EXPECT_FALSE(payloads().nccl_payload(whole.substr(0, whole.size() - 1)).bytes);
    EXPECT_FALSE(payloads().nccl_payload(with_header(whole, 9)).bytes);
    EXPECT_FALSE(payloads().nccl_payload("").bytes);
}

RC_GTEST_PROP(NvtxPayloadsProperty, AnyBytesAreSurvived, (const std::string& bytes)) {
    NvtxPayloads known = payloads();
    known.add({0, 0, "Rank", kInt, UINT64_MAX});
    static_cast<void>(known.nccl_payload(bytes));
    static_cast<void>(known.nccl_payload(with_header(bytes)));
    RC_ASSERT(!known.nccl_payload(std::string(16, '\0') + bytes).rank);
    static_cast<void>(nccl_payload(bytes));
}

TEST(NcclPayload, IsReadFromJson) {
    const NcclPayload payload = nccl_payload(
        R"({"NCCL communicator ID":"18446744073709551615", "Message size [bytes]": 4096})");
    EXPECT_EQ(payload.communicator, UINT64_MAX);
    EXPECT_EQ(payload.bytes, 4096U);
    EXPECT_FALSE(payload.rank);
    EXPECT_FALSE(nccl_payload(R"({"Rank": "none")").rank);
}

class Ranges {
public:
    Ranges& range(
        const char* function, std::uint64_t start, std::uint64_t end,
        std::optional<std::uint64_t> bytes = {}, std::uint64_t thread = 1) {
        NcclPayload payload;
        payload.bytes = bytes;
        payload.communicator = 9;
        EXPECT_TRUE(ranges_.add({function, thread, start, end, payload}, 1));
        return *this;
    }
    std::vector<nsight::NcclCall> calls() { return ranges_.calls(); }

private:
    nsight::NcclRanges ranges_;
};

TEST(NcclRanges, AGroupLaunchesAtItsEnd) {
    const auto calls = Ranges()
                           .range("ncclGroupEnd", 50, 60)
                           .range("ncclAllReduce", 20, 25, 100)
                           .range("ncclGroupStart", 10, 11)
                           .range("ncclAllReduce", 30, 35, 200)
                           .range("ncclBroadcast()", 40, 45, 8)
                           .range("ncclAllGather", 70, 75, 16)
                           .calls();
    ASSERT_EQ(calls.size(), 3U);
    EXPECT_EQ(calls[0].function, "ncclAllReduce");
    EXPECT_EQ(calls[0].payload.bytes, 300U) << "one kernel";
    EXPECT_EQ(calls[0].start, 20U);
    EXPECT_EQ(calls[0].end, 60U);
    EXPECT_EQ(calls[1].function, "ncclBroadcast");
    EXPECT_EQ(calls[1].end, 60U);
    EXPECT_EQ(calls[2].end, 75U) << "alone";
}

TEST(NcclRanges, GroupsNestAndEndWithTheirThread) {
    const auto calls = Ranges()
                           .range("ncclGroupStart", 1, 2)
                           .range("ncclGroupStart", 3, 4)
                           .range("ncclSend", 5, 6, 100)
                           .range("ncclGroupEnd", 7, 8)
                           .range("ncclRecv", 9, 10, 300)
                           .range("ncclSend", 11, 12, 50)
                           .range("ncclGroupEnd", 13, 14)
                           .range("ncclGroupStart", 1, 2, {}, 2)
                           .range("ncclReduce", 3, 4, 1, 2)
                           .range("ncclReduce", 3, 4, 1, 3)
                           .calls();
    ASSERT_EQ(calls.size(), 3U);
    EXPECT_EQ(calls[0].function, "ncclSend");
    EXPECT_EQ(calls[0].payload.bytes, 150U) << "what is sent";
    EXPECT_EQ(calls[0].end, 14U);
    EXPECT_EQ(calls[1].end, 4U) << "its group never ended";
    EXPECT_EQ(calls[2].thread, 3U);
}

TEST(NcclRanges, OthersAreNotNccls) {
    nsight::NcclRanges ranges;
    EXPECT_FALSE(ranges.add({"backward", 1, 2, 3, {}}, 1));
    EXPECT_EQ(ranges.size(), 0U);
}

}  // namespace
}  // namespace switchfold::nccl_payload_test
