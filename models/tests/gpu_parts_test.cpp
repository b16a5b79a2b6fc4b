// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm_array.h"
#include "models/memory/sharing.h"
#include "models/tests/gpu_bench.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace switchfold::gpu_parts_test {
namespace {

using gpu_test::a100;
using gpu_test::Bench;
using gpu_test::h100;

TEST(SmArray, NeighboursKeepACarveoutWhileOneIsBusy) {
    SmArray array(a100().sm, 108);
    const BlockShape communication{544, 96, Bytes(87'568)};
    const BlockShape larger{128, 192, kibibytes(120)};
    const BlockShape same{256, 229, kibibytes(72)};
    const Placement held = array.place(communication, 8);
    const Placement some = array.place(larger, 1000);
    EXPECT_EQ(some.blocks, 92U);
    array.release(larger, some);
    const Placement fitting = array.place(same, 1000);
    EXPECT_EQ(fitting.blocks, 100U);
    array.release(same, fitting);
    array.release(communication, held);
    EXPECT_EQ(array.place(larger, 1000).blocks, 108U);
}

TEST(SmArray, PlacesBreadthFirstAndKeepsLimits) {
    SmArray array(h100().sm, 132);
    const BlockShape shape{256, 64, kibibytes(40)};
    EXPECT_EQ(array.limit(shape), 4U);  // 64 registers x 256 threads: 4 fit in 65,536
    const Placement some = array.place(shape, 140);
    EXPECT_EQ(some.blocks, 140U);
    EXPECT_EQ(some.on_sm[0], 2U);
    EXPECT_EQ(some.on_sm[131], 1U);
    const Placement rest = array.place(shape, 10'000);
    EXPECT_EQ(rest.blocks, 4U * 132 - 140);
    EXPECT_EQ(array.place(shape, 1).blocks, 0U);
    array.release(shape, some);
    array.release(shape, rest);
    EXPECT_EQ(array.busy_sms(), 0U);
    EXPECT_EQ(array.limit({1024, 255, Bytes(0)}), 0U);  // too many registers for one SM
}

RC_GTEST_PROP(MaxMin, ConservesAndIsFair, ()) {
    const auto demands = *rc::gen::container<std::vector<double>>(
        rc::gen::map(rc::gen::inRange(0, 1000), [](int v) { return static_cast<double>(v); }));
    const double capacity = *rc::gen::inRange(1, 2000);
    std::vector<double> shares;
    max_min_share(capacity, demands, shares);
    double sum = 0;
    double wanted = 0;
    double least_cut = 1e300;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        RC_ASSERT(shares[i] <= demands[i] + 1e-9);
        sum += shares[i];
        wanted += demands[i];
        if (shares[i] < demands[i] - 1e-9)
            least_cut = std::min(least_cut, shares[i]);
    }
    RC_ASSERT(sum <= capacity + 1e-6);
    RC_ASSERT(sum >= std::min(capacity, wanted) - 1e-6);
    for (const double share : shares)  // no share exceeds one that was cut
        RC_ASSERT(share <= least_cut + 1e-6);
}

TEST(HbmTiming, ReachesTheMeasuredShareOfPeak) {
    HbmParams a100;  // RRZE gpu-stream, A100 40 GB: 1382 of 1555 GB/s for reads and writes
    a100.row_cycle = nanoseconds(47);
    a100.turnaround = nanoseconds(20);
    EXPECT_NEAR(achievable_bytes_per_second(a100, 0.5) / 1382e9, 1.0, 0.02);
    EXPECT_NEAR(achievable_bytes_per_second(a100, 0.0) / 1500e9, 1.0, 0.02);
    HbmParams few = a100;
    few.banks = 1;
    EXPECT_LT(achievable_bytes_per_second(few, 0.0), achievable_bytes_per_second(a100, 0.0));
}

TEST(Roofline, IsOneAlone) {
    for (const double hbm : {0.0, 0.3, 0.9, 1.0, 5.0})
        for (const double l2 : {0.0, 0.5, 1.0}) {
            const Roofline roofline = make_roofline({hbm, l2}, 4);
            EXPECT_EQ(wave_stretch(roofline, {}), 1.0);
            EXPECT_NEAR(wave_stretch(roofline, {1, 1 + 1e-12, 1}), 1.0, 1e-9);
            EXPECT_GE(wave_stretch(roofline, {1, 2, 1}), 1.0);
        }
}

TEST(ResidentBlocks, ThatLeaveGiveTheirSmsBack) {
    Bench bench(h100());
    bench.hold(100);
    bench.simulation.run();
    EXPECT_EQ(bench.gpu.busy_sms(), 100U);
    bench.gpu.shrink_resident(bench.ticket, 40);
    EXPECT_EQ(bench.gpu.busy_sms(), 40U);
    bench.gpu.shrink_resident(bench.ticket, 4);
    EXPECT_EQ(bench.gpu.busy_sms(), 4U);
    bench.gpu.shrink_resident(bench.ticket, 4);
    EXPECT_EQ(bench.gpu.busy_sms(), 4U);
    bench.gpu.retire_resident(bench.ticket);
    EXPECT_EQ(bench.gpu.busy_sms(), 0U);
}

}  // namespace
}  // namespace switchfold::gpu_parts_test
