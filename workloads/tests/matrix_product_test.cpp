// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/matrix_product.h"

#include "workloads/kernels/layer_products.h"
#include "workloads/kernels/tile_shapes.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

namespace switchfold::matrix_product_test {
namespace {

using test_data::ampere;
using test_data::blackwell;
using test_data::hopper;
using test_data::pascal;

constexpr double kFar = std::numeric_limits<double>::infinity();

MatrixProduct of(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
    MatrixProduct product;
    product.m = m;
    product.n = n;
    product.k = k;
    return product;
}

double seconds(const MatrixProduct& product, const GpuRates& gpu) {
    return estimate(product, gpu).seconds();
}

GpuRates any_gpu() {
    return *rc::gen::element(ampere(), hopper(), blackwell(), pascal());
}
MatrixProduct any_product() {
    const auto side = [] { return *rc::gen::inRange<std::uint64_t>(1, 9000); };
    MatrixProduct product = of(side(), side(), side());
    product.count = *rc::gen::inRange<std::uint64_t>(1, 5);
    product.datatype = *rc::gen::element(Datatype::kBfloat16, Datatype::kFloat32);
    return product;
}

RC_GTEST_PROP(MatrixProductProperty, IsNeverFasterThanPeakArithmetic, ()) {
    const GpuRates gpu = any_gpu();
    const MatrixProduct product = any_product();
    const bool vector = product.datatype == Datatype::kFloat32 || gpu.half == 0;
    const KernelEstimate kernel = estimate(product, gpu);
    RC_ASSERT(
        kernel.seconds() > gpu.launch + kernel.kernel.flops / (vector ? gpu.vector : gpu.half));
}

RC_GTEST_PROP(MatrixProductProperty, SumsCostWhatTheyReadAndWrite, ()) {
    const GpuRates gpu = any_gpu();
    MatrixProduct product = any_product();
    const KernelEstimate stored = estimate(product, gpu);
    product.summed_bytes = 4;
    const KernelEstimate summed = estimate(product, gpu);
    const auto elements = static_cast<double>(product.m * product.n * product.count);
    RC_ASSERT(summed.seconds() >= stored.seconds());
    // The sums are read and written at the full memory bandwidth, in addition to the product's own
    // traffic.
    RC_ASSERT(summed.seconds() > gpu.launch + 8 * elements / gpu.read_bandwidth);
    RC_ASSERT(summed.kernel.bytes_written == Bytes(4 * product.m * product.n * product.count));
    RC_ASSERT(summed.kernel.bytes_read > stored.kernel.bytes_read);
}

RC_GTEST_PROP(MatrixProductProperty, ColdOperandsAreNeverFasterThanMemory, ()) {
    const GpuRates gpu = any_gpu();
    MatrixProduct product = any_product();
    product.since_left = kFar;
    const KernelEstimate kernel = estimate(product, gpu);
    const double element = element_bytes(product.datatype);
    const double m = static_cast<double>(product.m);
    const double n = static_cast<double>(product.n);
    const double k = static_cast<double>(product.k);
    const double once = element * static_cast<double>(product.count) * (m * k + n * k + m * n);
    RC_ASSERT(kernel.memory_bytes >= 0.999 * once);
    RC_ASSERT(kernel.seconds() > gpu.launch + once / gpu.read_bandwidth);
    const double stated =
        static_cast<double>((kernel.kernel.bytes_read + kernel.kernel.bytes_written).count());
    RC_ASSERT(stated >= 0.999 * once);
}

RC_GTEST_PROP(MatrixProductProperty, TwiceAsMuchIsNeverFaster, ()) {
    const GpuRates gpu = any_gpu();
    MatrixProduct product = any_product();
    product.since_left = kFar;
    const double once = seconds(product, gpu);
    MatrixProduct twice = product;
    switch (*rc::gen::inRange(0, 4)) {
    case 0:
        twice.m *= 2;
        break;
    case 1:
        twice.n *= 2;
        break;
    case 2:
        twice.k *= 2;
        break;
    default:
        twice.count *= 2;
    }
    RC_ASSERT(seconds(twice, gpu) >= 0.995 * once);
}

RC_GTEST_PROP(MatrixProductProperty, LittleMoreIsHardlyEverFaster, ()) {
    const GpuRates gpu = any_gpu();
    MatrixProduct product = any_product();
    product.since_left = kFar;
    const double once = seconds(product, gpu);
    MatrixProduct more = product;
    const auto add = *rc::gen::inRange<std::uint64_t>(1, 200);
    switch (*rc::gen::inRange(0, 3)) {
    case 0:
        more.m += add;
        break;
    case 1:
        more.n += add;
        break;
    default:
        more.k += add;
    }
    RC_ASSERT(seconds(more, gpu) >= 0.995 * once);
}

RC_GTEST_PROP(MatrixProductProperty, MoreSmsAreSlowerByQuantisationAtMost, ()) {
    const GpuRates gpu = any_gpu();
    const MatrixProduct product = any_product();
    // Twice as many SMs of the same kind, with as much memory bandwidth for each.
    GpuRates more = gpu;
    more.sms = gpu.sms * 2;
    for (double* rate :
         {&more.vector, &more.half, &more.float8, &more.tf32, &more.matrix, &more.l2_bandwidth,
          &more.read_bandwidth, &more.mixed_bandwidth})
        *rate *= 2;
    RC_ASSERT(seconds(product, more) <= 1.02 * seconds(product, gpu));
}

RC_GTEST_PROP(MatrixProductProperty, ABlockFitsAnSm, ()) {
    const GpuRates gpu = any_gpu();
    const KernelEstimate kernel = estimate(any_product(), gpu);
    RC_ASSERT(kernel.kernel.grid.x >= 1U);
    RC_ASSERT(
        kernel.kernel.shared_memory.count() + gpu.shared_memory_of_a_block <= gpu.shared_memory);
    RC_ASSERT(
        std::uint64_t{kernel.kernel.registers_per_thread} * kernel.kernel.block.x <= gpu.registers);
    RC_ASSERT(kernel.kernel.block.x % 32 == 0U);
}

TEST(MatrixProduct, OneTileIsLaunchFillAndItsSteps) {
    const GpuRates gpu = ampere();
    const double one = seconds(of(64, 64, 64), gpu);
    EXPECT_GT(one, gpu.launch + 2 * gpu.memory_latency);
    EXPECT_LT(one, gpu.launch + 6 * gpu.memory_latency);
    // A smaller product is no faster, because a tile is the least that runs.
    EXPECT_NEAR(seconds(of(1, 1, 1), gpu) / seconds(of(8, 8, 8), gpu), 1.0, 0.01);
}

TEST(MatrixProduct, AWaveMoreCostsAWave) {
    // 132 tiles of 256 x 128 fill the GPU once. Another row of tiles starts a second wave.
    const GpuRates gpu = hopper();
    const double full = seconds(of(256 * 11, 128 * 12, 16'384), gpu);
    const double flops = 2.0 * 256 * 11 * 128 * 12 * 16'384;
    EXPECT_GT(flops / full, 0.85 * gpu.matrix);
    const double longer = seconds(of(256 * 11 + 8, 128 * 12, 16'384), gpu);
    EXPECT_GT(longer, 1.03 * full);
}

TEST(MatrixProduct, LongOnesReachTheMeasuredRateAndSmallOnesDoNot) {
    for (const GpuRates& gpu : {ampere(), hopper(), blackwell(), pascal()}) {
        const KernelEstimate large = estimate(of(16'384, 16'384, 16'384), gpu);
        EXPECT_NEAR(large.kernel.flops / large.seconds() / gpu.matrix, 1.0, 0.08) << gpu.name;
        const KernelEstimate small = estimate(of(256, 256, 256), gpu);
        EXPECT_LT(small.kernel.flops / small.seconds(), 0.5 * gpu.matrix) << gpu.name;
    }
}

TEST(MatrixProduct, AGpuAtItsPowerLimitIsNoFasterForAShortTime) {
    for (const GpuRates& alone : {ampere(), hopper()}) {
        GpuRates loaded = alone;
        loaded.loaded = true;
        const MatrixProduct brief = of(4096, 4096, 4096);
        EXPECT_GT(seconds(brief, loaded), 1.05 * seconds(brief, alone)) << alone.name;
        EXPECT_LT(seconds(brief, loaded), 1.09 * seconds(brief, alone)) << alone.name;
        // Only the first of many milliseconds differs.
        const MatrixProduct lasting = of(16'384, 16'384, 16'384);
        EXPECT_LT(seconds(lasting, loaded), 1.01 * seconds(lasting, alone)) << alone.name;
    }
}

TEST(MatrixProduct, SumsAreSplitWhereTilesAreFew) {
    const KernelEstimate kernel = estimate(of(128, 128, 65'536), hopper());
    EXPECT_NE(kernel.choice.find("splits"), std::string::npos) << kernel.choice;
    EXPECT_EQ(estimate(of(8192, 8192, 8192), hopper()).choice.find("splits"), std::string::npos);
}

TEST(MatrixProduct, AnOperandInTheCacheSavesMemory) {
    const GpuRates gpu = hopper();
    MatrixProduct product = of(4096, 64, 2048);
    const KernelEstimate warm = estimate(product, gpu);
    product.since_left = kFar;
    const KernelEstimate cold = estimate(product, gpu);
    EXPECT_LT(warm.memory_bytes, 0.2 * cold.memory_bytes);
    EXPECT_LT(warm.seconds(), cold.seconds());
    // The bytes that the graph carries do not depend on the cache.
    EXPECT_EQ(warm.kernel.bytes_read, cold.kernel.bytes_read);
}

TEST(MatrixProduct, TypesHaveTheRatesOfTheirUnits) {
    MatrixProduct product = of(8192, 8192, 8192);
    const double half = seconds(product, hopper());
    product.datatype = Datatype::kFloat16;
    EXPECT_DOUBLE_EQ(seconds(product, hopper()), half);
    product.datatype = Datatype::kFloat8;
    EXPECT_NEAR(seconds(product, hopper()) / half, 0.5, 0.06);
    product.datatype = Datatype::kFloat32;
    EXPECT_NEAR(seconds(product, hopper()) / half, 794 / (0.8 * 67), 1.5);
    product.tf32 = true;
    EXPECT_NEAR(seconds(product, hopper()) / half, 2.0, 0.2);
    // Without matrix units, 16-bit arithmetic runs at the 32-bit rate.
    product.tf32 = false;
    const double vector = seconds(product, pascal());
    EXPECT_NEAR(vector, 2.0 * 8192 * 8192 * 8192 / 9.4e12, 0.05 * vector);
    product.datatype = Datatype::kFloat16;
    EXPECT_NEAR(seconds(product, pascal()) / vector, 1.0, 0.1);
}

RC_GTEST_PROP(MatrixProductProperty, SmallerPiecesAreNeverFaster, ()) {
    const GpuRates gpu = any_gpu();
    MatrixProduct product = any_product();
    double before = seconds(product, gpu);
    for (const std::uint32_t bytes : {8U, 4U, 2U}) {
        (*rc::gen::arbitrary<bool>() ? product.left_alignment : product.right_alignment) = bytes;
        const double now = seconds(product, gpu);
        // The library's tiles for pieces are other ones, and on newer GPUs older ones.
        RC_ASSERT(now >= before * 0.9);
        before = now;
    }
}

TEST(MatrixProduct, CopiesUnalignedRowsInPieces) {
    // 130.6 us on an H100 at 1.2 GHz of its 1.98 (m87-labs/kestrel, pull request 143).
    GpuRates slow = hopper();
    slow.half *= 1.2 / 1.98;
    slow.matrix = slow.half;
    slow.integer = 132 * 64 * 1.2e9;
    MatrixProduct product = of(9477, 1152, 588);
    product.left_alignment = product.right_alignment = 4;
    EXPECT_NEAR(seconds(product, slow) * 1e6, 130.6, 0.2 * 130.6);
    // An odd side along which rows lie makes a product "over 2x" slower (Horace He, What Shapes Do
    // Matrix Multiplications Like, 2048 x 2048 x 2047).
    product = of(2048, 2048, 2047);
    const double whole = seconds(product, ampere());
    product.left_alignment = 2;
    EXPECT_GT(seconds(product, ampere()), 1.9 * whole);
    // Pieces of 8 B hide behind the arithmetic; vector units have no larger ones.
    product = of(8192, 12'564, 1024);
    const double aligned = seconds(product, ampere());
    product.left_alignment = 8;
    EXPECT_LT(seconds(product, ampere()), 1.3 * aligned);
    product.datatype = Datatype::kFloat32;
    product.left_alignment = 16;
    const double single = seconds(product, ampere());
    product.left_alignment = 4;
    EXPECT_EQ(seconds(product, ampere()), single);
}

TEST(MatrixProduct, RefusesWhatIsNoProduct) {
    EXPECT_THROW(static_cast<void>(estimate(of(0, 8, 8), ampere())), std::invalid_argument);
    constexpr std::uint64_t kHuge = std::uint64_t{1} << 40U;
    EXPECT_THROW(
        static_cast<void>(estimate(of(kHuge, kHuge, kHuge), ampere())), std::invalid_argument);
    MatrixProduct product = of(8, 8, 8);
    product.left_alignment = 0;
    EXPECT_THROW(static_cast<void>(estimate(product, ampere())), std::invalid_argument);
    product.left_alignment = 16;
    product.datatype = Datatype::kInt64;
    EXPECT_THROW(static_cast<void>(estimate(product, ampere())), std::invalid_argument);
    GpuRates without = ampere();
    without.matrix = 0;
    EXPECT_THROW(static_cast<void>(estimate(of(8, 8, 8), without)), std::invalid_argument);
}

TEST(TileShapes, AreTheLibrarysAndFit) {
    const auto wide = [](const GpuRates& gpu) {
        std::uint32_t most = 0;
        for (const TileShape& tile : tile_shapes(gpu, false)) {
            EXPECT_GE(tile.stages, 2U);
            EXPECT_GE(tile.blocks, 1U);
            EXPECT_LE(
                tile.blocks * (tile.shared_memory + gpu.shared_memory_of_a_block),
                gpu.shared_memory);
            // Registers are allocated to a warp in units of 256.
            const std::uint32_t warp = (tile.registers * 32 + 255) / 256 * 256;
            EXPECT_LE(tile.blocks * (tile.threads / 32) * warp, gpu.registers) << tile.threads;
            most = std::max(most, tile.rows * tile.columns);
        }
        return most;
    };
    EXPECT_EQ(wide(ampere()), 256U * 128U);
    EXPECT_EQ(wide(hopper()), 320U * 128U);
    EXPECT_EQ(wide(blackwell()), 128U * 256U);
    EXPECT_EQ(wide(pascal()), 128U * 128U);
}

TEST(LayerProducts, AllPassesOfALayerHaveTheSameOperations) {
    const auto flops = [](const MatrixProduct& p) {
        return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
               static_cast<double>(p.count);
    };
    const LinearShape linear{4096, 1024, 3072};
    // ResNet-50's first 3 x 3 convolution with stride 2, batch 32.
    ConvolutionShape conv;
    conv.batch = 32;
    conv.in_channels = conv.out_channels = 128;
    conv.in_height = conv.in_width = 56;
    conv.out_height = conv.out_width = 28;
    conv.kernel_height = conv.kernel_width = 3;
    const LstmStepShape lstm{64, 512, 1024};
    for (const LayerPass pass :
         {LayerPass::kForward, LayerPass::kInputGradient, LayerPass::kWeightGradient}) {
        EXPECT_DOUBLE_EQ(flops(product(linear, pass, Datatype::kBfloat16)), 4096.0 * 1024 * 3072);
        EXPECT_NEAR(
            flops(product(conv, pass, Datatype::kFloat16)) / (32.0 * 28 * 28 * 128 * 128 * 9), 1.0,
            1e-3);
        EXPECT_DOUBLE_EQ(
            flops(product(lstm, pass, Datatype::kFloat32)), 64.0 * (512 + 1024) * 4 * 1024);
    }
    conv.groups = 128;  // depthwise
    const MatrixProduct depthwise = product(conv, LayerPass::kForward, Datatype::kFloat16);
    EXPECT_EQ(depthwise.count, 128U);
    EXPECT_EQ(depthwise.k, 9U);
    conv.groups = 3;
    EXPECT_THROW(
        static_cast<void>(product(conv, LayerPass::kForward, Datatype::kFloat16)),
        std::invalid_argument);
}

}  // namespace
}  // namespace switchfold::matrix_product_test
