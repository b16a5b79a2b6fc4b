// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/rescaled_time.h"

#include "workloads/kernels/matrix_product.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::rescaled_time_test {
namespace {

using test_data::ampere;
using test_data::blackwell;
using test_data::hopper;

KernelOperation launched(std::uint32_t blocks, Time isolated) {
    KernelOperation kernel;
    kernel.grid = {blocks, 1, 1};
    kernel.block = {128, 1, 1};
    kernel.isolated = isolated;
    kernel.kernel_class = KernelClass::kElementwise;
    return kernel;
}

KernelOperation streaming(double megabytes, Time isolated) {
    KernelOperation kernel = launched(5000, isolated);
    kernel.bytes_read = Bytes(static_cast<std::uint64_t>(megabytes * 2e6 / 3));
    kernel.bytes_written = Bytes(static_cast<std::uint64_t>(megabytes * 1e6 / 3));
    kernel.byte_source = ByteSource::kShapes;
    return kernel;
}

KernelOperation product(std::uint32_t m, std::uint32_t n, std::uint32_t k, Time isolated) {
    KernelOperation kernel = launched(500, isolated);
    kernel.kernel_class = KernelClass::kGemmConv;
    kernel.shape.kind = ShapeKind::kProduct;
    kernel.shape.datatype = Datatype::kBfloat16;
    kernel.shape.sides = {m, n, k, 1};
    kernel.byte_source = ByteSource::kShapes;
    return kernel;
}

KernelOperation attention(Time isolated) {
    KernelOperation kernel = launched(500, isolated);
    kernel.kernel_class = KernelClass::kAttention;
    kernel.shape.kind = ShapeKind::kAttention;
    kernel.shape.datatype = Datatype::kBfloat16;
    kernel.shape.sides = {2, 2048, 2048, 16, 16, 128};
    return kernel;
}

std::vector<KernelOperation> all_kinds() {
    std::vector<KernelOperation> kernels{
        product(4096, 4096, 4096, microseconds(600)),
        product(300, 1000, 7000, microseconds(31)),
        attention(microseconds(333)),
        streaming(300, microseconds(190)),
        streaming(3, microseconds(5)),
        launched(1, microseconds(9)),
        launched(1080, microseconds(70)),
        launched(777, nanoseconds(1700))};
    kernels[6].kernel_class = KernelClass::kGemmConv;
    kernels[7].bytes_read = Bytes(50'000);
    return kernels;
}

GpuRates with(GpuRates gpu, const std::function<void(GpuRates&)>& change) {
    change(gpu);
    return gpu;
}

TEST(RescaledTime, IsExactOnTheTracedGpuWhateverItsName) {
    const GpuRates renamed = with(ampere(), [](GpuRates& gpu) { gpu.name = "the same"; });
    KernelRescaler rescaler(ampere(), renamed);
    EXPECT_TRUE(rescaler.same());
    for (const KernelOperation& kernel : all_kinds()) {
        EXPECT_EQ(rescaler(kernel).isolated, kernel.isolated);
        EXPECT_EQ(rescaler(kernel).least, kernel.isolated);
        EXPECT_EQ(rescaler(kernel).most, kernel.isolated);
    }
    EXPECT_FALSE(KernelRescaler(ampere(), hopper()).same());
}

TEST(RescaledTime, FollowsTheLibrarysKernelsWhereTheShapeIsKnown) {
    GpuRates a = ampere();
    GpuRates h = hopper();
    a.loaded = h.loaded = true;
    MatrixProduct shape;
    shape.m = shape.n = shape.k = 4096;
    const double ratio =
        (estimate(shape, h).seconds() - h.launch) / (estimate(shape, a).seconds() - a.launch);
    KernelRescaler rescaler(ampere(), hopper());
    const RescaledTime time = rescaler(product(4096, 4096, 4096, microseconds(700)));
    EXPECT_EQ(time.by, ScaledBy::kShape);
    EXPECT_NEAR(to_microseconds(time.isolated), 700 * ratio, 0.01);
    EXPECT_LT(ratio, 0.5);
    // Attention has its own model.
    EXPECT_EQ(rescaler(attention(microseconds(300))).by, ScaledBy::kShape);
    EXPECT_LT(rescaler(attention(microseconds(300))).isolated, microseconds(200));
}

TEST(RescaledTime, AShapeThatNoKernelComputesCountsByItsBytes) {
    KernelOperation kernel = product(64, 64, 64, microseconds(10));
    kernel.shape.datatype = Datatype::kFloat64;
    EXPECT_EQ(KernelRescaler(ampere(), hopper())(kernel).by, ScaledBy::kBytes);
}

TEST(RescaledTime, BytesFollowTheMemory) {
    // 300 MB in the time that they need: twice the bandwidth, half of it.
    const KernelOperation kernel = streaming(300, microseconds(170));
    const GpuRates twice = with(ampere(), [](GpuRates& gpu) {
        gpu.read_bandwidth *= 2;
        gpu.mixed_bandwidth *= 2;
    });
    const RescaledTime time = KernelRescaler(ampere(), twice)(kernel);
    EXPECT_EQ(time.by, ScaledBy::kBytes);
    EXPECT_NEAR(to_microseconds(time.isolated), 88, 2);
    // Of a kernel that takes ten times as long, the rest waits for its SMs.
    const KernelOperation slow = streaming(300, microseconds(1700));
    EXPECT_NEAR(to_microseconds(KernelRescaler(ampere(), twice)(slow).isolated), 1618, 5);
}

TEST(RescaledTime, ABiggerL2KeepsWhatASmallOneLoses) {
    const KernelOperation kernel = streaming(30, microseconds(15));
    const GpuRates small = with(ampere(), [](GpuRates& gpu) { gpu.l2_capacity /= 4; });
    EXPECT_GT(KernelRescaler(ampere(), small)(kernel).isolated, microseconds(17));
}

TEST(RescaledTime, TheBusiestSmDecides) {
    const auto time_on = [](std::uint32_t blocks, std::uint32_t sms) {
        const GpuRates fewer = with(ampere(), [&](GpuRates& gpu) {
            const double share = static_cast<double>(sms) / gpu.sms;
            gpu.l2_of_sm = gpu.l2_bandwidth / gpu.sms;
            gpu.sms = sms;
            for (double* rate : {&gpu.vector, &gpu.integer, &gpu.half, &gpu.tf32, &gpu.matrix})
                *rate *= share;
        });
        GpuRates stated = ampere();
        stated.l2_of_sm = stated.l2_bandwidth / stated.sms;
        return to_microseconds(
            KernelRescaler(stated, fewer)(launched(blocks, microseconds(60))).isolated);
    };
    EXPECT_NEAR(time_on(217, 54), 60.0 * 5 / 3, 0.01);  // 3 blocks on the busiest SM, then 5
    EXPECT_NEAR(time_on(50, 54), 60.0, 0.01);           // a block an SM on both
    EXPECT_NEAR(time_on(216, 54), 120.0, 0.01);         // blocks that stay share the work
    EXPECT_NEAR(time_on(216, 81), 80.0, 0.01);
}

TEST(RescaledTime, ALaunchAloneGivesARange) {
    KernelOperation kernel = launched(1080, microseconds(100));
    kernel.bytes_read = Bytes(80'000'000);
    const RescaledTime time = KernelRescaler(ampere(), blackwell())(kernel);
    EXPECT_EQ(time.by, ScaledBy::kLaunch);
    EXPECT_LT(time.least, time.isolated);
    EXPECT_GT(time.most, time.isolated);
    kernel.byte_source = ByteSource::kShapes;
    const RescaledTime known = KernelRescaler(ampere(), blackwell())(kernel);
    EXPECT_EQ(known.least, known.most);
    EXPECT_EQ(known.isolated, time.isolated);
}

TEST(RescaledTime, MoreOfAResourceNeverSlowsAKernel) {
    const std::vector<std::pair<std::string, std::function<void(GpuRates&, double)>>> resources{
        {"SMs",
         [](GpuRates& gpu, double more) {
             gpu.l2_of_sm = gpu.l2_bandwidth / gpu.sms;
             const double before = gpu.sms;
             gpu.sms = static_cast<std::uint32_t>(gpu.sms * more);
             for (double* rate : {&gpu.vector, &gpu.integer, &gpu.half, &gpu.tf32, &gpu.matrix})
                 *rate *= gpu.sms / before;
         }},
        {"clock",
         [](GpuRates& gpu, double more) {
             for (double* rate : {&gpu.vector, &gpu.integer, &gpu.half, &gpu.tf32, &gpu.matrix})
                 *rate *= more;
             gpu.l2_of_sm = gpu.l2_bandwidth / gpu.sms * more;
         }},
        {"memory",
         [](GpuRates& gpu, double more) {
             gpu.read_bandwidth *= more;
             gpu.mixed_bandwidth *= more;
         }},
        {"L2's bandwidth", [](GpuRates& gpu, double more) { gpu.l2_bandwidth *= more; }},
        {"L2's capacity", [](GpuRates& gpu, double more) {
             gpu.l2_capacity =
                 static_cast<std::uint64_t>(static_cast<double>(gpu.l2_capacity) * more);
         }}};
    std::vector<KernelOperation> kernels = all_kinds();
    for (std::uint32_t m = 100; m < 9000; m = m * 3 / 2)
        for (std::uint32_t n = 64; n < 9000; n = n * 7 / 3)
            kernels.push_back(product(m, n, 1111, microseconds(100)));
    for (const GpuRates& traced : {ampere(), hopper(), blackwell()})
        for (const auto& [name, raise] : resources) {
            std::vector<double> before;
            for (const double more : {0.5, 0.75, 1.0, 1.1, 1.5, 2.0, 4.0}) {
                GpuRates gpu = traced;
                raise(gpu, more);
                KernelRescaler rescaler(traced, gpu);
                for (std::size_t i = 0; i < kernels.size(); ++i) {
                    const double time = to_seconds(rescaler(kernels[i]).isolated);
                    if (more > 0.5) {
                        EXPECT_LE(time, before[i] * 1.01)
                            << traced.name << ", " << name << " x " << more << ", kernel " << i
                            << " " << kernels[i].shape.sides[0] << " x "
                            << kernels[i].shape.sides[1];
                    }
                    before.resize(kernels.size());
                    before[i] = time;
                }
            }
        }
}

}  // namespace
}  // namespace switchfold::rescaled_time_test
