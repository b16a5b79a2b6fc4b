// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/attention.h"
#include "workloads/kernels/kernel_constants.h"
#include "workloads/kernels/memory_kernel.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <stdexcept>

namespace switchfold::other_kernels_test {
namespace {

using test_data::ampere;
using test_data::blackwell;
using test_data::hopper;
using test_data::pascal;

Attention of(std::uint64_t batch, std::uint64_t tokens, std::uint64_t heads, std::uint64_t kv) {
    Attention a;
    a.batch = batch;
    a.queries = a.keys = tokens;
    a.heads = heads;
    a.kv_heads = kv;
    return a;
}

double seconds(const Attention& attention, const GpuRates& gpu) {
    return estimate(attention, gpu).seconds();
}

RC_GTEST_PROP(AttentionProperty, IsNeverFasterThanPeakOrMemory, ()) {
    const GpuRates gpu = *rc::gen::element(ampere(), hopper(), blackwell(), pascal());
    const auto kv = *rc::gen::inRange<std::uint64_t>(1, 9);
    Attention a =
        of(*rc::gen::inRange<std::uint64_t>(1, 17), *rc::gen::inRange<std::uint64_t>(1, 5000),
           kv * *rc::gen::inRange<std::uint64_t>(1, 9), kv);
    a.causal = *rc::gen::arbitrary<bool>();
    a.backward = *rc::gen::arbitrary<bool>();
    const KernelEstimate kernel = estimate(a, gpu);
    // A causal token attends to itself and on average to half of the others.
    const double scores = static_cast<double>(a.batch * a.heads * a.queries) *
                          static_cast<double>(a.causal ? (a.keys + 1) / 2 : a.keys);
    const double flops = (a.backward ? 10.0 : 4.0) * scores * 128;
    RC_ASSERT(kernel.seconds() > gpu.launch + flops / (gpu.half > 0 ? gpu.half : gpu.vector));
    RC_ASSERT(kernel.kernel.flops >= 0.999 * flops);
    RC_ASSERT(kernel.seconds() > gpu.launch + kernel.memory_bytes / gpu.read_bandwidth);
    Attention twice = a;
    twice.batch *= 2;
    RC_ASSERT(seconds(twice, gpu) >= 0.97 * kernel.seconds());
}

TEST(Attention, CausalTakesHalfOfLongSamplesAndBackwardTwoToFourTimes) {
    for (const GpuRates& gpu : {ampere(), hopper(), blackwell()}) {
        Attention a = of(2, 16'384, 32, 32);
        const double causal = seconds(a, gpu);
        a.causal = false;
        EXPECT_NEAR(seconds(a, gpu) / causal, 2.0, 0.1) << gpu.name;
        a.backward = true;
        const double back = seconds(a, gpu);
        a.backward = false;
        EXPECT_GT(back / seconds(a, gpu), 2.0) << gpu.name;
        EXPECT_LT(back / seconds(a, gpu), 4.0) << gpu.name;
    }
}

TEST(Attention, ReachesPublishedRates) {
    // FlashAttention-2 on an A100 with heads of 128 and 16,384 tokens, not causal: about 225
    // TFLOP/s forward, 63 % of 312 backward (arXiv 2307.08691).
    Attention a = of(1, 16'384, 16, 16);
    a.causal = false;
    const double forward = 4.0 * 16 * 16'384 * 16'384 * 128;
    EXPECT_NEAR(forward / seconds(a, ampere()) / 225e12, 1.0, 0.1);
    a.backward = true;
    EXPECT_NEAR(2.5 * forward / seconds(a, ampere()) / (0.63 * 312e12), 1.0, 0.1);
}

TEST(Attention, SharedKeysPackQueries) {
    // 32 query heads of one token share a key head: one tile instead of 32.
    const GpuRates gpu = hopper();
    EXPECT_LT(
        seconds(of(256, 1, 32, 1), gpu) - gpu.launch,
        0.1 * (seconds(of(256, 1, 32, 32), gpu) - gpu.launch));
}

TEST(Attention, TheLongestTilesAtTheEndLeaveSmsIdle) {
    // 8 heads of 32 tiles: in the A100's order the longest tiles come last, and the other SMs idle.
    const GpuRates gpu = ampere();
    const double few = seconds(of(1, 4096, 8, 8), gpu);
    const double many = seconds(of(8, 4096, 8, 8), gpu) / 8;
    EXPECT_GT(few, 1.3 * many);
}

/// A window's tiles see a bounded number of keys: work and time grow with the tokens, not their
/// square.
TEST(Attention, AWindowBoundsWhatATileSees) {
    for (const GpuRates& gpu : {ampere(), hopper(), blackwell()}) {
        for (const bool backward : {false, true}) {
            Attention a = of(1, 16'384, 16, 16);
            a.backward = backward;
            const KernelEstimate whole = estimate(a, gpu);
            a.window = 16'384;
            EXPECT_EQ(estimate(a, gpu).kernel, whole.kernel) << gpu.name;
            a.window = 1024;
            const KernelEstimate window = estimate(a, gpu);
            const double pairs = (2.0 * 16'384 * 1024 - 1024 * 1024) / (16'384.0 * 16'384);
            EXPECT_GT(window.kernel.flops, pairs * whole.kernel.flops) << gpu.name;
            EXPECT_LT(window.kernel.flops, 1.2 * pairs * whole.kernel.flops) << gpu.name;
            // A tile's start counts for more where it sees little.
            EXPECT_GT(window.seconds() / whole.seconds(), 0.9 * pairs) << gpu.name;
            EXPECT_LT(window.seconds() / whole.seconds(), 1.6 * pairs) << gpu.name;
            Attention twice = a;
            twice.queries = twice.keys = 32'768;
            EXPECT_NEAR(estimate(twice, gpu).kernel.flops / window.kernel.flops, 2, 0.1);
        }
    }
}

/// Latent attention's queries and keys are wider than its values: of the two products forward one
/// has the one width and one the other, of the five backward three and two.
TEST(Attention, ValuesMayHaveAWidthOfTheirOwn) {
    const GpuRates gpu = hopper();
    Attention a = of(1, 4096, 16, 16);
    const KernelEstimate narrow = estimate(a, gpu);
    a.value_width = 128;
    EXPECT_EQ(estimate(a, gpu).kernel, narrow.kernel);
    a.head_width = 192;
    const KernelEstimate latent = estimate(a, gpu);
    EXPECT_DOUBLE_EQ(latent.kernel.flops / narrow.kernel.flops, (192.0 + 128) / 256);
    EXPECT_GT(latent.seconds(), narrow.seconds());
    const double row = 2.0 * 4096 * 16;  // queries and keys, values and result
    EXPECT_DOUBLE_EQ(latent.memory_bytes, row * (2 * 192 + 2 * 128));
    a.backward = true;
    Attention equal = of(1, 4096, 16, 16);
    equal.backward = true;
    EXPECT_DOUBLE_EQ(
        estimate(a, gpu).kernel.flops / estimate(equal, gpu).kernel.flops,
        (3 * 192.0 + 2 * 128) / (5 * 128));
}

TEST(Attention, RefusesNonsense) {
    EXPECT_THROW(static_cast<void>(estimate(of(1, 0, 8, 8), ampere())), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(estimate(of(1, 8, 8, 3), ampere())), std::invalid_argument);
    EXPECT_THROW(
        static_cast<void>(estimate(of(1, std::uint64_t{1} << 40U, 8, 8), ampere())),
        std::invalid_argument);
    GpuRates without = ampere();
    without.vector = 0;
    EXPECT_THROW(static_cast<void>(estimate(of(1, 8, 8, 8), without)), std::invalid_argument);
}

RC_GTEST_PROP(MemoryKernelProperty, IsBetweenCacheAndMemory, ()) {
    const GpuRates gpu = *rc::gen::element(ampere(), hopper(), blackwell(), pascal());
    const double read = *rc::gen::inRange(0, 1'000'000'000);
    const double written = *rc::gen::inRange(0, 1'000'000'000);
    const KernelEstimate kernel =
        estimate(MemoryKernel{KernelClass::kElementwise, read, written, 0}, gpu);
    RC_ASSERT(kernel.seconds() > gpu.launch + (read + written) / gpu.l2_bandwidth);
    RC_ASSERT(kernel.seconds() > gpu.launch + written / gpu.read_bandwidth);
    const KernelEstimate more =
        estimate(MemoryKernel{KernelClass::kElementwise, read + 4096, written, 0}, gpu);
    RC_ASSERT(more.seconds() >= kernel.seconds());
}

TEST(MemoryKernel, StreamsReachTheirBandwidth) {
    for (const GpuRates& gpu : {ampere(), hopper(), pascal()}) {
        const KernelEstimate kernel = estimate(copy(1e9), gpu);
        EXPECT_NEAR(2e9 / kernel.seconds() / gpu.mixed_bandwidth, 1.0, 0.02) << gpu.name;
        EXPECT_EQ(kernel.kernel.bytes_read, kernel.kernel.bytes_written);
    }
    // Data that fits in the L2 and was just written is read faster than from memory.
    const double fits = 4e6;
    EXPECT_GT(2 * fits / (estimate(copy(fits), ampere()).seconds() - 3.5e-6), 1.8e12);
}

/// Kernels of a profile of Megatron-LM on A100s of 80 GB: 8,192 tokens of width 4,096 on eight
/// tensor-parallel ranks, with 8 heads and 6,400 words a rank.
TEST(MemoryKernel, TakesWhatAProfileOfMegatronSays) {
    const auto microseconds = [](const MemoryKernel& kernel) {
        return (estimate(kernel, ampere()).seconds() - ampere().launch) * 1e6;
    };
    const double logits = 8192.0 * 6400;
    EXPECT_NEAR(microseconds(strided(logits, 2 * logits, 2 * logits)), 231, 0.05 * 231);
    EXPECT_NEAR(microseconds(strided(logits, 2 * logits, 4 * logits)), 263, 0.08 * 263);
    EXPECT_NEAR(microseconds(strided(logits, 4 * logits, 4 * logits)), 271, 0.05 * 271);
    const double queries_keys_values = 8192.0 * 1536;
    EXPECT_NEAR(
        microseconds(
            strided(queries_keys_values, 2 * queries_keys_values, 2 * queries_keys_values)),
        54, 0.08 * 54);
    EXPECT_NEAR(microseconds(element_wise(8192.0 * 4096, 2, 2)), 113, 0.05 * 113);
    MemoryKernel softmax;
    const double scores = 32.0 * 2048 * 2048;  // 4 samples, 8 heads, as its operators' shapes say
    softmax.read = scores;                     // those that are not masked
    softmax.written = 2 * scores;
    softmax.instructions = kernel_constants::kMaskedScore * scores;
    EXPECT_NEAR(microseconds(softmax), 426, 0.05 * 426);
}

TEST(MemoryKernel, ApexNormsTakeWhatItsAuthorsAndAProfileSay) {
    const auto microseconds = [](double elements, bool backward, const GpuRates& gpu) {
        return estimate(apex_norm(elements, 2, backward), gpu).seconds() * 1e6;
    };
    EXPECT_NEAR(microseconds(8192.0 * 4096, false, ampere()), 137, 0.05 * 137);
    GpuRates forty = ampere();  // apex#1037, on an A100 of 40 GB
    forty.mixed_bandwidth = 1.38e12;
    forty.read_bandwidth = 1.45e12;
    EXPECT_NEAR(microseconds(16384.0 * 1024, false, forty), 75.1, 0.05 * 75.1);
    EXPECT_NEAR(microseconds(16384.0 * 1024, true, forty), 176.2, 0.05 * 176.2);
    EXPECT_EQ(apex_norm(100, 2, false).read, norm(100, 2, false).read);
}

TEST(MemoryKernel, DropoutTakesWhatALibraryMeasuredOnAV100) {
    // PaddlePaddle/Paddle#35877: 8 x 12 x 1,024 x 1,024 numbers of 16 bits, 710 us. No number is
    // fitted on it.
    GpuRates volta = ampere();
    volta.sms = 80;
    volta.integer = 7.83e12;
    volta.read_bandwidth = 0.867e12;
    volta.mixed_bandwidth = 0.81e12;
    volta.l2_capacity = 6 * 1024 * 1024;
    MemoryKernel dropout;
    const double numbers = 8.0 * 12 * 1024 * 1024;
    dropout.read = 2 * numbers;
    dropout.written = 3 * numbers;
    dropout.instructions = kernel_constants::kRandomNumber * numbers;
    EXPECT_NEAR(estimate(dropout, volta).seconds() * 1e6, 710, 0.05 * 710);
}

TEST(MemoryKernel, InstructionsTakeTheTimeOfTheSmsThatAKernelFills) {
    MemoryKernel k;
    k.instructions = 1e9;
    EXPECT_GT(estimate(k, ampere()).seconds(), 108 * 1e9 / ampere().integer);  // one block
    k.instructions = -1;
    EXPECT_THROW(static_cast<void>(estimate(k, ampere())), std::invalid_argument);
}

TEST(MemoryKernel, KindsMoveTheirBytes) {
    EXPECT_EQ(element_wise(100, 2, 2).read, 400);
    EXPECT_EQ(element_wise(100, 2, 2).written, 200);
    EXPECT_EQ(norm(100, 2, false).read, 200);
    EXPECT_EQ(norm(100, 2, true).read, 400);
    EXPECT_EQ(softmax_loss(100, 2, false).written, 0);
    EXPECT_EQ(embedding(100, 2, true).written, 400);
    // Adam in mixed precision: gradient 2 B, master weight and two moments 12 B, weight 2 B.
    EXPECT_EQ(optimizer(100, 2, 2, 12).read, 1400);
    EXPECT_EQ(optimizer(100, 2, 2, 12).written, 1400);
    EXPECT_THROW(
        static_cast<void>(estimate(MemoryKernel{KernelClass::kOther, -1, 0, 0}, ampere())),
        std::invalid_argument);
}

TEST(MemoryKernel, BatchNormReadsTheBatchTwice) {
    for (const bool backward : {false, true}) {
        const MemoryKernel one = norm(1e8, 2, backward);
        const MemoryKernel two = batch_norm(1e8, 2, backward);
        EXPECT_EQ(two.read, 2 * one.read);
        EXPECT_EQ(two.written, one.written);
        EXPECT_GT(estimate(two, ampere()).seconds(), 1.3 * estimate(one, ampere()).seconds());
    }
}

TEST(MemoryKernel, BiasGradientReadsTheGradientOnce) {
    const MemoryKernel sum = bias_gradient(1e8, 1e3, 2);
    EXPECT_EQ(sum.read, 2e8);
    EXPECT_EQ(sum.written, 2e3);
}

}  // namespace
}  // namespace switchfold::other_kernels_test
