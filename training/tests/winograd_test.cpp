// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/winograd.h"

#include "training/network/product.h"
#include "training/network/zoo/zoo.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace switchfold::winograd_test {
namespace {

constexpr SmallWindows kDeep{64, 28, 28, 512, 512};

double seconds(const std::vector<WinogradKernel>& kernels) {
    double all = 0;
    for (const WinogradKernel& k : kernels)
        all += k.estimate.seconds();
    return all;
}

TEST(Winograd, MultipliesAQuarterOfTheTimes) {
    const KernelTimes times(test_data::ampere());
    const ConvolutionShape direct{64, 512, 512, 28, 28, 3, 3, 28, 28, 1};
    for (const LayerPass pass :
         {LayerPass::kForward, LayerPass::kInputGradient, LayerPass::kWeightGradient}) {
        const auto kernels = winograd(kDeep, pass, 0, times);
        ASSERT_TRUE(kernels);
        const auto unnamed = std::find_if(
            kernels->begin(), kernels->end(), [](const auto& k) { return k.name.empty(); });
        ASSERT_NE(unnamed, kernels->end());
        const KernelEstimate whole = times.estimate(product(direct, pass, Datatype::kFloat32));
        EXPECT_NEAR(unnamed->estimate.kernel.flops / whole.kernel.flops, 0.25, 0.001);
        // The transforms eat some of it.
        EXPECT_LT(seconds(*kernels), 0.5 * whole.seconds());
        EXPECT_GT(seconds(*kernels), 0.2 * whole.seconds());
    }
}

TEST(Winograd, TilesThatDoNotFillTheImageAreWhole) {
    const KernelTimes times(test_data::ampere());
    const auto of = [&](std::uint64_t side) {
        return winograd({64, side, side, 256, 256}, LayerPass::kForward, 0, times)
            .value()[2]
            .estimate.kernel.flops;
    };
    EXPECT_EQ(of(13), of(16));
    EXPECT_GT(of(17), of(16));
}

TEST(Winograd, MovesItsTilesThroughMemory) {
    const KernelTimes times(test_data::ampere());
    const auto kernels = winograd(kDeep, LayerPass::kForward, 0, times).value();
    const double input = 64.0 * 28 * 28 * 512 * 4;
    EXPECT_EQ(kernels[1].estimate.kernel.bytes_read.count(), static_cast<std::uint64_t>(input));
    EXPECT_EQ(
        kernels[1].estimate.kernel.bytes_written.count(),
        static_cast<std::uint64_t>(input * 36 / 16));
    EXPECT_EQ(kernels[3].estimate.kernel.bytes_written.count(), static_cast<std::uint64_t>(input));
}

TEST(Winograd, AGradientThatIsAddedToIsReadToo) {
    const KernelTimes times(test_data::ampere());
    const auto read = [&](double summed) {
        return winograd(kDeep, LayerPass::kWeightGradient, summed, times)
            .value()
            .back()
            .estimate.kernel.bytes_read.count();
    };
    EXPECT_EQ(read(4) - read(0), 9U * 512 * 512 * 4);
}

TEST(Winograd, NeedsRoomAndALibrary) {
    GpuRates kepler = test_data::ampere();
    kepler.winograd = false;
    EXPECT_FALSE(winograd(kDeep, LayerPass::kForward, 0, KernelTimes(kepler)));
    // VGG's second layer with 128 images: 7.4 GB of tiles.
    EXPECT_FALSE(winograd(
        {128, 224, 224, 64, 64}, LayerPass::kForward, 0, KernelTimes(test_data::ampere())));
}

TEST(Winograd, IsForWindowsOfThreeByThreeThatMoveByOne) {
    const Network network = find_network("resnet50").value();
    std::uint32_t small = 0;
    std::uint32_t convolutions = 0;
    for (const Layer& layer : network.layers) {
        convolutions += layer.type == "conv" ? 1 : 0;
        small += channels_of_small_windows(layer) ? 1 : 0;
    }
    EXPECT_EQ(convolutions, 53U);
    EXPECT_EQ(small, 13U);  // of 16 blocks, three halve the image
    // Without padding, the image shrinks by two.
    const Network inception = find_network("inception_v3").value();
    EXPECT_TRUE(
        std::any_of(inception.layers.begin(), inception.layers.end(), [](const Layer& layer) {
            return channels_of_small_windows(layer) && layer.out_shape[1] == 147;
        }));
}

}  // namespace
}  // namespace switchfold::winograd_test
