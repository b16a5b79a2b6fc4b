// SPDX-License-Identifier: Apache-2.0
#include "validation/low_sm/low_sm_rows.h"

#include "sim/core/error.h"

#include <gtest/gtest.h>

namespace switchfold::validation::low_sm_rows_test {
namespace {

constexpr const char* kHeader =
    "id,kind,operation,gpu,n_gpus,n_nodes,interconnect,kernel,blocks,dtype,size_bytes,time_us\n";

LowSmRow one(const std::string& kernel, const std::string& blocks = "") {
    std::size_t others = 0;
    return parse_low_sm_rows(
               kHeader + ("t,symmetric_memory,reduce_scatter,NVIDIA B200,2,1,NVSwitch,\"" + kernel +
                          "\"," + blocks + ",bfloat16,4194304,14.85\n"),
               "t.csv",
               others)
        .at(0);
}

TEST(LowSmRows, ReadsItsKindsAndCountsTheOthers) {
    std::size_t others = 0;
    const auto rows = parse_low_sm_rows(
        std::string(kHeader) + "a,moe_deepep_normal,moe_dispatch,H100,8,1,x,k,4,fp8,,25.6\n"
                               "b,copy_engine,all_gather,H100,8,1,x,copy engine,,,1024,12.5\n",
        "t.csv",
        others);
    EXPECT_EQ(others, 1U);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].kind, CollectiveKind::kAllGather);
    EXPECT_EQ(rows[0].datatype, Datatype::kBfloat16);
    EXPECT_EQ(rows[0].microseconds, 12.5);
    EXPECT_EQ(kernel_of(rows[0]).policy.kernels, Kernels::kCopyEngine);
}

TEST(LowSmRows, SaysEverythingThatIsWrongWithItsLine) {
    std::size_t others = 0;
    try {
        static_cast<void>(parse_low_sm_rows(
            std::string(kHeader) + "a,symmetric_memory,all_red,H100,1,1,x,k,,,0,x\n",
            "t.csv",
            others));
        FAIL();
    } catch (const ConfigError& error) {
        const std::string text = error.what();
        for (const char* words :
             {"n_gpus is \"1\"",
              "operation is \"all_red\"",
              "size_bytes is \"0\"",
              "time_us is \"x\"",
              "line 2"})
            EXPECT_NE(text.find(words), std::string::npos) << text;
    }
}

TEST(LowSmRows, TheKernelsNameSaysWhatToSimulate) {
    const LowSmKernel loads = kernel_of(one("NCCL symmetric ReduceScatter_LD, registered", "33"));
    EXPECT_EQ(loads.policy.kernels, Kernels::kSymmetric);
    EXPECT_EQ(loads.policy.algorithm, Algorithm::kDirect);
    EXPECT_EQ(loads.policy.channels, 33U);
    const LowSmKernel own = kernel_of(one("NCCL symmetric kernel"));
    EXPECT_EQ(own.policy.algorithm, Algorithm::kAuto);
    const LowSmKernel torch = kernel_of(one("torch symmetric memory multimem"));
    EXPECT_EQ(torch.policy.algorithm, Algorithm::kInSwitch);
    const LowSmKernel rings = kernel_of(one("NCCL (pynccl)"));
    EXPECT_TRUE(rings.why_not.empty());
    EXPECT_EQ(rings.policy.kernels, Kernels::kClassic);
    EXPECT_FALSE(kernel_of(one("NCCL symmetric ReduceScatter_TmaLD")).why_not.empty());
    EXPECT_FALSE(kernel_of(one("vLLM custom one-shot")).why_not.empty());
}

}  // namespace
}  // namespace switchfold::validation::low_sm_rows_test
