// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/product_precision.h"

#include "core/error.h"
#include "core/params_reader.h"
#include "training/network/zoo/zoo.h"

#include <gtest/gtest.h>

namespace switchfold::product_precision_test {
namespace {

/// A GPU whose matrix units multiply 8 bits so many times as fast as 16.
GpuParams gpu(std::uint64_t times, bool block_scales = false) {
    GpuParams params;
    params.name = "test";
    params.arithmetic.half_rate = FlopRate(1'000'000'000'000'000);
    params.arithmetic.float8_rate = FlopRate(times * 1'000'000'000'000'000);
    params.arithmetic.block_scales = block_scales;
    return params;
}

TEST(ProductPrecision, AGpuWithoutUnitsForItIsRefused) {
    for (const Precision precision :
         {Precision::kFloat8Delayed, Precision::kFloat8Current, Precision::kFloat8Blockwise}) {
        EXPECT_EQ(why_no_products(gpu(2), precision), "");
        EXPECT_NE(why_no_products(gpu(0), precision), "");
        EXPECT_NE(why_no_products(gpu(1), precision), "");
    }
    EXPECT_EQ(why_no_products(gpu(2, true), Precision::kMicroFloat8), "");
    EXPECT_NE(
        why_no_products(gpu(2), Precision::kMicroFloat8).find("block_scales is false"),
        std::string::npos);
    for (const Precision precision : {Precision::kHalf, Precision::kSingle})
        EXPECT_EQ(why_no_products(gpu(0), precision), "");
    GpuParams four = gpu(2, true);
    EXPECT_NE(
        why_no_products(four, Precision::kNvFloat4).find("arithmetic/float4_rate is not above"),
        std::string::npos);
    four.arithmetic.float4_rate = FlopRate(4'000'000'000'000'000);
    EXPECT_EQ(why_no_products(four, Precision::kNvFloat4), "");
}

std::string refused(const char* text) {
    try {
        static_cast<void>(read_params<TrainingWorkloadParams>(OrderedJson::parse(text), "f"));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

TEST(ProductPrecision, SettingsThatMeanNothingWithoutItAreRefused) {
    EXPECT_EQ(refused(R"({"network": "llama3_8b", "precision": "fp8_current"})"), "");
    EXPECT_EQ(
        refused(R"({"network": "llama3_8b", "plan": {"float8_weights": true}})"),
        "f: /plan/float8_weights: is of products of 8 bits, and precision has none; expected "
        "fp8_delayed, fp8_current, mxfp8, fp8_blockwise or nvfp4 there");
    EXPECT_EQ(
        refused(R"({"network": "llama3_8b", "plan": {"moments": "int8"}})"),
        "f: /plan/moments: is not a type of moments; expected float32, float16 or bfloat16");
    EXPECT_EQ(
        refused(
            R"({"network": "llama3_8b", "precision": "mxfp8", "plan": {"float8_weights": true, "moments": "bfloat16"}})"),
        "");
}

TEST(ProductPrecision, ANoteCountsWhatIsRounded) {
    const Network network = *find_network("llama3_8b");
    ParallelPlan plan;
    EXPECT_EQ(told_products(Precision::kHalf, plan, network), "");
    plan.products = recipe_of(Precision::kFloat8Blockwise);
    EXPECT_EQ(
        told_products(Precision::kFloat8Blockwise, plan, network),
        "224 of 225 linear layers multiply operands of 8 bits (fp8_blockwise); the others, "
        "attention and all else keep 16");
    plan.products = recipe_of(Precision::kNvFloat4);
    EXPECT_NE(
        told_products(Precision::kNvFloat4, plan, network)
            .find("multiply operands of 4 bits (nvfp4)"),
        std::string::npos);
}

}  // namespace
}  // namespace switchfold::product_precision_test
