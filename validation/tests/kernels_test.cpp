// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "validation/harness/judging.h"
#include "validation/harness/root.h"
#include "validation/harness/suite.h"
#include "validation/kernels/flash_attention.h"
#include "validation/kernels/gpu_ratios.h"
#include "validation/kernels/kernel_gpus.h"
#include "validation/kernels/timed_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace switchfold::validation::kernels_test {
namespace {

TEST(FlashAttention, RowsThatSayNothingUsableAreRefused) {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "reference");
    std::ofstream(folder.path() / "reference/flash_attention.csv")
        << "gpu,dtype,kernel,causal,batch,sequence,heads,head_dim,tflops,source\n"
           "NVIDIA H100 80GB HBM3,float16,flash_4,yes,1,512,16,128,100,x\n"
           "NVIDIA H100 80GB HBM3,float16,fused,maybe,1,512,16,128,-1,x\n";
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    options.measurements = folder.path();
    SuiteResult result;
    try {
        compare_flash_attention(options, KernelGpus(options.root), result);
        FAIL();
    } catch (const ConfigError& error) {
        const std::string text = error.what();
        EXPECT_NE(
            text.find("line 2: kernel is \"flash_4\"; expected fused or flash_2"),
            std::string::npos)
            << text;
        EXPECT_NE(text.find("line 3: causal is \"maybe\"; expected yes or no"), std::string::npos)
            << text;
        EXPECT_NE(
            text.find("line 3: tflops is \"-1\"; expected a number above 0"), std::string::npos);
    }
}

TEST(FlashAttention, ComparesRatesByKernel) {
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    SuiteResult result;
    compare_flash_attention(options, KernelGpus(options.root), result);
    ASSERT_EQ(result.cases.size(), 36U);
    // Of the same size, FlashAttention-3 is faster than 2.
    EXPECT_GT(result.cases[6].simulated, 1.2 * result.cases[0].simulated);
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

TEST(GpuRatios, AreThoseOfEveryTwoGpusWithTheSameSize) {
    SuiteResult result;
    compare_gpu_ratios(
        {{"A", "products", "1x1x1", 10, 11, true},
         {"B", "products", "1x1x1", 5, 5, false},
         {"C", "products", "1x1x1", 2, 4, false},
         {"A", "products", "2x2x2", 10, 10, false},
         {"B", "products", "2x2x2", 4, 5, false},
         {"A", "attention", "1x1x1", 1, 1, false},
         {"B", "products", "1x1x1", 1000, 1, false},
         {"C", "attention", "9x9x9", 1, 1, false}},
        result);
    ASSERT_EQ(result.cases.size(), 4U);
    EXPECT_EQ(result.cases[0].id, "B over A/products/1x1x1");
    EXPECT_DOUBLE_EQ(result.cases[0].measured, 0.5);
    EXPECT_DOUBLE_EQ(result.cases[0].simulated, 5.0 / 11);
    EXPECT_TRUE(result.cases[0].fitted);
    EXPECT_EQ(result.cases[1].id, "B over A/products/2x2x2");
    EXPECT_EQ(result.cases[3].id, "C over B/products/1x1x1");
}

TEST(KernelsSuite, KeepsItsToleranceOnWhatShips) {
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    std::vector<SuiteResult> results{suite_named("kernels").run(options)};
    // 136 products and 92 prompts were measured on two GPUs.
    EXPECT_EQ(results[0].cases.size(), 716U + 228U);
    EXPECT_TRUE(results[0].unmatched.empty());
    judge_all(results, options.root);
    EXPECT_FALSE(results[0].groups.empty());
    // Of a kind of kernel on a GPU: all lengths together, and of these what nothing was chosen on.
    std::map<std::string, std::vector<Case>> kinds;
    for (const Case& c : results[0].cases) {
        const std::string kind =
            c.quantity == "time" ? c.group.substr(0, c.group.find(", ")) : c.group;
        kinds[kind].push_back(c);
        if (!c.fitted)
            kinds[kind + ", not fitted"].push_back(c);
    }
    for (const auto& [kind, cases] : kinds)
        EXPECT_LE(mape(cases), 0.15) << kind;
    // Of one kind one length is above its limit.
    std::size_t above = 0;
    for (const GroupVerdict& verdict : results[0].groups)
        if (!verdict.kept()) {
            ++above;
            EXPECT_LT(verdict.error, 0.152) << verdict.group;
        }
    EXPECT_LE(above, 1U);
    EXPECT_EQ(
        std::ranges::count_if(
            results[0].groups, [](const GroupVerdict& v) { return v.limit < 0.15; }),
        std::ranges::count_if(
            results[0].groups,
            [](const GroupVerdict& v) { return v.quantity == "ratio of times"; }))
        << "ratios are held to less than times";
}

}  // namespace
}  // namespace switchfold::validation::kernels_test
