// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/root.h"
#include "validation/harness/suite.h"
#include "validation/kernels/kernel_gpus.h"
#include "validation/kernels/timed_kernels.h"

#include <gtest/gtest.h>

namespace switchfold::validation::kernels_test {
namespace {

TEST(KernelGpus, ANameSaysModelFormAndMemory) {
    EXPECT_EQ(gpu_words("NVIDIA A100-SXM4-80GB"), (GpuWords{"A100", false, 80}));
    EXPECT_EQ(gpu_words("NVIDIA H100 80GB HBM3"), (GpuWords{"H100", std::nullopt, 80}));
    EXPECT_EQ(gpu_words("NVIDIA H100 PCIe"), (GpuWords{"H100", true, std::nullopt}));
    EXPECT_EQ(gpu_words("NVIDIA L40S").model, "L40S");
    EXPECT_EQ(gpu_words("NVIDIA GB200").model, "GB200");
}

TEST(KernelGpus, FindsTheGpuOfATable) {
    const KernelGpus gpus(SWITCHFOLD_SOURCE_DIR);
    const auto name = [&](const char* text) {
        const KernelGpus::Match match = gpus.find(text);
        return match.gpu != nullptr ? match.gpu->name : match.why;
    };
    EXPECT_EQ(name("NVIDIA A100-SXM4-80GB"), "NVIDIA A100 SXM4 80 GB");
    EXPECT_EQ(name("NVIDIA A100-SXM4-40GB"), "NVIDIA A100 SXM4 40 GB");
    EXPECT_EQ(name("NVIDIA H100 80GB HBM3").find("PCIe"), std::string::npos);
    EXPECT_NE(name("NVIDIA H100 PCIe").find("PCIe"), std::string::npos);
    EXPECT_EQ(name("NVIDIA H200"), "NVIDIA H200 SXM 141 GB");
    EXPECT_EQ(name("NVIDIA B200"), "NVIDIA B200");
    EXPECT_EQ(name("NVIDIA L40S"), "NVIDIA L40S");
    // The 480 GB in the name are the CPU's memory, so the name must not be matched by size.
    EXPECT_EQ(name("NVIDIA GH200 480GB").substr(0, 12), "NVIDIA GH200");
    EXPECT_EQ(name("NVIDIA A100-PCIE-40GB"), "NVIDIA A100 PCIe 40 GB");
    EXPECT_EQ(name("NVIDIA A100 80GB PCIe"), "NVIDIA A100 PCIe 80 GB");
    EXPECT_EQ(name("NVIDIA H100 NVL"), "NVIDIA H100 NVL 94 GB");
    EXPECT_EQ(name("Tesla M60"), "no GPU of configs/systems is a Tesla M60");
}

TEST(TimedKernels, HalfOfAllSizesMayBeFitted) {
    std::size_t fitted = 0;
    MatrixProduct product;
    for (product.m = 64; product.m < 64 * 50; product.m += 64)
        for (product.n = 64; product.n < 64 * 20; product.n += 64)
            fitted += in_fitted_half(size_of_row(product)) ? 1U : 0U;
    EXPECT_NEAR(static_cast<double>(fitted) / (49 * 19), 0.5, 0.05);
}

TEST(TimedKernels, EightBitsAreConvertedFirstAndPromptsAreStored) {
    const KernelGpus gpus(SWITCHFOLD_SOURCE_DIR);
    const GpuRates& gpu = *gpus.find("NVIDIA H100 80GB HBM3").gpu;
    MatrixProduct product;
    product.m = 64;
    product.n = product.k = 4096;
    product.datatype = Datatype::kFloat8;
    EXPECT_GT(
        timed_kernel(product, gpu).seconds, estimate(product, gpu).seconds() + 2 * gpu.launch);
    Attention a;
    a.batch = 4;
    a.queries = a.keys = 128;
    EXPECT_GT(timed_kernel(a, gpu).seconds, estimate(a, gpu).seconds() + 2 * gpu.launch);
}

TEST(KernelsSuite, KeepsItsToleranceOnWhatShips) {
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    const SuiteResult result = suite_named("kernels").run(options);
    EXPECT_EQ(result.cases.size(), 680U);
    EXPECT_TRUE(result.unmatched.empty());
    // Two GPUs x two kinds of kernel x two selections: all rows, and the rows not used for fitting.
    ASSERT_EQ(result.verdicts.size(), 8U);
    for (const Verdict& verdict : result.verdicts)
        EXPECT_TRUE(verdict.kept()) << verdict.what << ": " << verdict.value;
}

}  // namespace
}  // namespace switchfold::validation::kernels_test
