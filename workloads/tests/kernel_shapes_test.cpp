// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/kernel_shapes.h"

#include <gtest/gtest.h>

namespace switchfold::kernel_shapes_test {
namespace {

KernelShape shape(
    std::string_view op, std::string_view dims, std::string_view types,
    std::string_view kernel = "gemm", std::uint64_t stride = 1) {
    return shape_of(op, parse_shapes(dims, types), kernel, stride).value_or(KernelShape{});
}

using Sides = std::array<std::uint32_t, kSidesOfAttention>;

TEST(KernelShapes, ProductsFromTheirFactors) {
    const KernelShape addmm = shape(
        "aten::addmm", "[[1000], [32, 2048], [2048, 1000], [], []]",
        R"(["float", "float", "float", "Scalar", "Scalar"])");
    EXPECT_EQ(addmm.kind, ShapeKind::kProduct);
    EXPECT_EQ(addmm.sides, (Sides{32, 1000, 2048, 1}));
    EXPECT_EQ(addmm.datatype, Datatype::kFloat32);
    EXPECT_FALSE(addmm.tf32);
    const KernelShape batched =
        shape("aten::bmm", "[[8, 16, 32], [8, 32, 64]]", R"(["c10::Half", "c10::Half"])");
    EXPECT_EQ(batched.sides, (Sides{16, 64, 32, 8}));
    EXPECT_EQ(batched.datatype, Datatype::kBfloat16);
    // All samples share the weights: one product.
    EXPECT_EQ(
        shape("aten::linear", "[[4, 128, 512], [2048, 512]]", R"(["float", "float"])").sides,
        (Sides{512, 2048, 512, 1}));
}

TEST(KernelShapes, TheKernelsNameSaysWhetherItRounds) {
    EXPECT_TRUE(shape(
                    "aten::mm", "[[64, 64], [64, 64]]", R"(["float", "float"])",
                    "ampere_s1688gemm_fp32_128x128")
                    .tf32);
    EXPECT_FALSE(
        shape("aten::mm", "[[64, 64], [64, 64]]", R"(["float", "float"])", "ampere_sgemm_64x64")
            .tf32);
    EXPECT_FALSE(shape(
                     "aten::mm", "[[64, 64], [64, 64]]", R"(["c10::BFloat16", "c10::BFloat16"])",
                     "ampere_bf16_s16816gemm")
                     .tf32);
}

TEST(KernelShapes, ConvolutionsAreImplicitProducts) {
    const char* const types = R"(["float", "float"])";
    EXPECT_EQ(
        shape("aten::cudnn_convolution", "[[8, 64, 56, 56], [128, 64, 3, 3]]", types, "fprop", 2)
            .sides,
        (Sides{8 * 28 * 28, 128, 64 * 9, 1}));
    const char* const three = R"(["float", "float", "float"])";
    const char* const back = "[[8, 128, 56, 56], [8, 64, 56, 56], [128, 64, 3, 3]]";
    EXPECT_EQ(
        shape("aten::convolution_backward", back, three, "sm80_xmma_wgrad_").sides,
        (Sides{128, 64 * 9, 8 * 56 * 56, 1}));
    EXPECT_EQ(
        shape("aten::convolution_backward", back, three, "sm80_xmma_dgrad_").sides,
        (Sides{8 * 56 * 56, 64, 128 * 9, 1}));
    EXPECT_EQ(
        shape("aten::conv2d", "[[8, 64, 56, 56], [64, 64, 3, 3]]", types, "winograd_fwd").kind,
        ShapeKind::kUnknown);
}

TEST(KernelShapes, AttentionInBothOrders) {
    const char* const types = R"(["c10::Half", "c10::Half", "c10::Half"])";
    const Sides sides{2, 512, 512, 16, 4, 64};
    const KernelShape kernel = shape(
        "aten::_flash_attention_forward", "[[2, 512, 16, 64], [2, 512, 4, 64], [2, 512, 4, 64]]",
        types);
    EXPECT_EQ(kernel.kind, ShapeKind::kAttention);
    EXPECT_EQ(kernel.sides, sides);
    EXPECT_FALSE(kernel.backward);
    EXPECT_FALSE(kernel.newest);
    EXPECT_EQ(
        shape(
            "aten::_scaled_dot_product_flash_attention",
            "[[2, 16, 512, 64], [2, 4, 512, 64], [2, 4, 512, 64]]", types)
            .sides,
        sides);
    const KernelShape back = shape(
        "aten::_flash_attention_backward",
        "[[2, 512, 16, 64], [2, 512, 16, 64], [2, 512, 4, 64], [2, 512, 4, 64]]",
        R"(["c10::Half", "c10::Half", "c10::Half", "c10::Half"])");
    EXPECT_EQ(back.sides, sides);
    EXPECT_TRUE(back.backward);
}

TEST(KernelShapes, WhatDoesNotFitIsUnknown) {
    const char* const floats = R"(["float", "float"])";
    EXPECT_EQ(shape("aten::mm", "[[4, 5], [6, 7]]", floats).kind, ShapeKind::kUnknown);
    EXPECT_EQ(shape("aten::add", "[[4, 5], [4, 5]]", floats).kind, ShapeKind::kUnknown);
    EXPECT_EQ(
        shape("aten::mm", "[[4, 5], [5, 7]]", R"(["double", "double"])").kind, ShapeKind::kUnknown);
    EXPECT_EQ(shape("aten::mm", "[[4294967296, 5], [5, 7]]", floats).kind, ShapeKind::kUnknown);
    EXPECT_EQ(
        shape("aten::conv2d", "[[8, 64, 56, 56], [64, 0, 3, 3]]", floats).kind,
        ShapeKind::kUnknown);
}

}  // namespace
}  // namespace switchfold::kernel_shapes_test
