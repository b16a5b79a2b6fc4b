// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/program/autoencoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

namespace switchfold::offload::autoencoder_test {
namespace {

Autoencoder small() {
    Autoencoder network;
    network.widths = {784, 100, 20};
    network.batch = 64;
    return network;
}

/// Multiply-adds of a phase, including recomputed ones.
std::uint64_t multiply_adds(const ParallelProgram& program, Phase phase) {
    std::uint64_t sum = 0;
    for (const Region& region : program.regions)
        for (const Work& work : region.parts) {
            if (region.phase != phase)
                continue;
            if (const auto* loop = std::get_if<ProductLoop>(&work))
                sum += loop->rows * loop->width * loop->depth;
            if (const auto* product = std::get_if<LibraryProduct>(&work))
                sum += product->m * product->n * product->k;
        }
    return sum;
}

constexpr std::uint64_t kWeights = 2 * (784 * 100 + 100 * 20);

TEST(AutoencoderStep, HasOneRegionALayerAndDirection) {
    const ParallelProgram program = training_step(small());
    EXPECT_EQ(program.regions.size(), 4U + 4U + 1U);
    EXPECT_EQ(program.regions.front().name, "layer 0 forward");
    EXPECT_EQ(program.regions.back().phase, Phase::kUpdate);
    EXPECT_EQ(weights_of(small()), kWeights);
}

TEST(AutoencoderStep, StrategiesComputeTheSame) {
    Autoencoder library = small();
    library.strategy = Strategy::kLibrary;
    for (const Autoencoder& network : {small(), library}) {
        const ParallelProgram program = training_step(network);
        EXPECT_EQ(multiply_adds(program, Phase::kForward), 64 * kWeights);
        // The first layer propagates no error, because no layer is below it.
        EXPECT_EQ(multiply_adds(program, Phase::kBackward), 64 * (2 * kWeights - 784 * 100));
        EXPECT_DOUBLE_EQ(program.flops, 2.0 * 64 * (3 * kWeights - 784 * 100));
    }
}

TEST(AutoencoderStep, RecomputeRunsTheEncoderAgainAndKeepsLess) {
    Autoencoder again = small();
    again.recompute = true;
    const ParallelProgram kept = training_step(small());
    const ParallelProgram program = training_step(again);
    EXPECT_EQ(
        multiply_adds(program, Phase::kBackward),
        multiply_adds(kept, Phase::kBackward) + 64 * kWeights / 2);
    EXPECT_LT(program.resident_bytes, kept.resident_bytes);
    EXPECT_EQ(program.flops, kept.flops);
}

TEST(AutoencoderStep, AtomicsNeedNoCopies) {
    Autoencoder atomics = small();
    atomics.sum = GradientSum::kAtomics;
    EXPECT_EQ(training_step(small()).team_bytes, 4 * kWeights);
    EXPECT_EQ(training_step(atomics).team_bytes, 0U);
    const auto added = [](const ParallelProgram& program) {
        std::uint64_t elements = 0;
        for (const Region& region : program.regions)
            for (const Work& work : region.parts) {
                if (const auto* sum = std::get_if<AtomicSum>(&work))
                    elements += sum->elements;
                if (const auto* sum = std::get_if<TreeSum>(&work))
                    elements += sum->elements;
            }
        return elements;
    };
    EXPECT_EQ(added(training_step(atomics)), kWeights);
    EXPECT_EQ(added(training_step(small())), kWeights);
}

TEST(AutoencoderStep, SamplesTravelInAndCodesOut) {
    Autoencoder network = small();
    EXPECT_EQ(training_step(network).bytes_in, 64U * 784 * 4);
    EXPECT_EQ(training_step(network).bytes_out, 0U);
    network.returns_code = true;
    EXPECT_EQ(training_step(network).bytes_out, 64U * 20 * 4);
}

}  // namespace
}  // namespace switchfold::offload::autoencoder_test
