// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/shared_storage.h"

#include "core/random_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace switchfold::elastic::shared_storage_test {
namespace {

constexpr Time ms(std::uint64_t value) {
    return Time(1'000'000'000) * value;
}
constexpr Bytes kMegabyte(1'000'000);

TEST(SharedStorage, ClientsThatStartTogetherEndAtBytesOverBandwidth) {
    const SharedStorage storage{gigabytes_per_second(2), gigabytes_per_second(1)};
    for (const std::uint64_t clients : {1U, 2U, 3U, 8U, 64U}) {
        const std::vector<StorageClient> all(clients, {ms(3), kMegabyte * 500});
        const double seconds = std::max(0.5, 0.25 * static_cast<double>(clients));
        for (const Time end : serve(storage, all))
            EXPECT_NEAR(to_seconds(end), 0.003 + seconds, 1e-11) << clients;
    }
}

TEST(SharedStorage, WhoComesLaterSlowsTheOthersFromThenOn) {
    const SharedStorage storage{gigabytes_per_second(1), gigabytes_per_second(1)};
    // The first client is alone for 0.5 s, then has half of the rate for 1 s. After that the second
    // is alone.
    const auto ends = serve(storage, {{ms(0), kMegabyte * 1000}, {ms(500), kMegabyte * 1000}});
    EXPECT_EQ(ends[0], ms(1500));
    EXPECT_EQ(ends[1], ms(2000));
    // A large read delays a small one only while the two share the rate.
    const auto small = serve(storage, {{ms(0), kMegabyte * 1000}, {ms(100), kMegabyte * 10}});
    EXPECT_EQ(small[1], ms(120));
    EXPECT_EQ(small[0], ms(1010));
    // The storage is idle between the two reads.
    const auto apart = serve(storage, {{ms(4000), kMegabyte * 10}, {ms(0), kMegabyte * 10}});
    EXPECT_EQ(apart[0], ms(4010));
    EXPECT_EQ(apart[1], ms(10));
    EXPECT_EQ(serve(storage, {{ms(7), Bytes(0)}}).at(0), ms(7));
}

TEST(SharedStorage, IsNeverFasterThanItsRateNorAClientThanItsOwn) {
    RandomStream random(7, "storage");
    for (int run = 0; run < 300; ++run) {
        const SharedStorage storage{
            Bandwidth(1'000'000 * (1 + random.below(1000))),
            Bandwidth(1'000'000 * (1 + random.below(1000)))};
        std::vector<StorageClient> clients(1 + random.below(20));
        std::uint64_t total = 0;
        Time first = kTimeMax;
        for (StorageClient& client : clients) {
            client = {ms(random.below(3000)), kMegabyte * random.below(2000)};
            total += client.bytes.count();
            first = std::min(first, client.arrives);
        }
        const auto ends = serve(storage, clients);
        constexpr double kRounding = 1e-9;
        for (std::size_t i = 0; i < clients.size(); ++i)
            EXPECT_GE(
                to_seconds(ends[i] - clients[i].arrives) + kRounding,
                to_seconds(
                    serialization_time(clients[i].bytes, std::min(storage.rate, storage.client))));
        const Time last = *std::max_element(ends.begin(), ends.end());
        EXPECT_GE(
            to_seconds(last - first) + kRounding,
            static_cast<double>(total) / static_cast<double>(storage.rate.count()));
    }
}

TEST(SharedStorage, WhatATimeDoesNotHoldIsRefused) {
    const SharedStorage storage{Bandwidth(1), Bandwidth(1)};
    EXPECT_THROW(
        static_cast<void>(serve(storage, {{ms(0), kMegabyte * 1'000'000}})), std::overflow_error);
}

}  // namespace
}  // namespace switchfold::elastic::shared_storage_test
