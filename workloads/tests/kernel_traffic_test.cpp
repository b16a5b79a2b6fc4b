// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/kernel_traffic.h"

#include <gtest/gtest.h>

namespace switchfold::kernel_traffic_test {
namespace {

Traffic expect_traffic(
    std::string_view op, std::string_view dims, std::string_view types, KernelClass kernel_class,
    std::uint64_t stride = 1) {
    const auto traffic = traffic_of(op, parse_shapes(dims, types), kernel_class, stride);
    EXPECT_TRUE(traffic) << op;
    return traffic.value_or(Traffic{});
}

TEST(ParseShapes, KeepsPositionsAndTypes) {
    const auto shapes = parse_shapes("[[4, 8], [], [2]]", R"(["c10::Half", "Scalar", "long int"])");
    ASSERT_EQ(shapes.size(), 3U);
    EXPECT_EQ(shapes[0].bytes(), 64);
    EXPECT_EQ(shapes[1].elements(), 0U);
    EXPECT_EQ(shapes[2].bytes(), 16);
}

TEST(ParseShapes, ListsOfTensorsLieFlat) {
    const auto shapes = parse_shapes("[[[4], [8]], [3]]", R"(["TensorList", "double"])");
    ASSERT_EQ(shapes.size(), 3U);
    EXPECT_EQ(shapes[1].elements(), 8U);
    EXPECT_EQ(shapes[2].bytes(), 24);
}

TEST(ParseShapes, NonsenseIsEmpty) {
    EXPECT_TRUE(parse_shapes("", "").empty());
    EXPECT_TRUE(parse_shapes("{", "[").empty());
    EXPECT_TRUE(parse_shapes("5", "5").empty());
    EXPECT_EQ(parse_shapes("[[-1, 4]]", "[\"float\"]").at(0).elements(), 0U);
    EXPECT_EQ(parse_shapes("[[4294967296, 4294967296, 4294967296]]", "[]").at(0).elements(), 0U)
        << "too large to be true";
}

TEST(Traffic, Addmm) {
    // [32, 2048] x [2048, 1000] + [1000]
    const Traffic t = expect_traffic(
        "aten::addmm", "[[1000], [32, 2048], [2048, 1000], [], []]",
        R"(["float", "float", "float", "Scalar", "Scalar"])", KernelClass::kGemmConv);
    EXPECT_EQ(t.read, 4.0 * (1000 + 32 * 2048 + 2048 * 1000));
    EXPECT_EQ(t.written, 4.0 * 32 * 1000);
    EXPECT_EQ(t.flops, 2.0 * 32 * 2048 * 1000);
}

TEST(Traffic, BatchedAndLinear) {
    const Traffic b = expect_traffic(
        "aten::bmm", "[[8, 16, 32], [8, 32, 64]]", R"(["c10::Half", "c10::Half"])",
        KernelClass::kGemmConv);
    EXPECT_EQ(b.read, 2.0 * 8 * (16 * 32 + 32 * 64));
    EXPECT_EQ(b.written, 2.0 * 8 * 16 * 64);
    EXPECT_EQ(b.flops, 2.0 * 8 * 16 * 32 * 64);
    const Traffic l = expect_traffic(
        "aten::linear", "[[4, 10, 32], [64, 32], [64]]", R"(["float", "float", "float"])",
        KernelClass::kGemmConv);
    EXPECT_EQ(l.written, 4.0 * 40 * 64) << "the weight is [outputs, inputs]";
    EXPECT_FALSE(
        traffic_of("aten::mm", parse_shapes("[[4, 5], [6, 7]]", ""), KernelClass::kGemmConv))
        << "shapes that do not fit";
}

TEST(Traffic, Convolution) {
    // ResNet-50's first layer: 7x7, stride 2.
    const Traffic t = expect_traffic(
        "aten::cudnn_convolution", "[[32, 3, 224, 224], [64, 3, 7, 7], []]",
        R"(["float", "float", ""])", KernelClass::kGemmConv, 2);
    EXPECT_EQ(t.written, 4.0 * 32 * 64 * 112 * 112);
    EXPECT_EQ(t.flops, 2.0 * 32 * 64 * 112 * 112 * 3 * 7 * 7);
    const Traffic b = expect_traffic(
        "aten::convolution_backward", "[[32, 64, 112, 112], [32, 3, 224, 224], [64, 3, 7, 7]]",
        R"(["float", "float", "float"])", KernelClass::kGemmConv);
    EXPECT_EQ(b.flops, 2 * t.flops) << "gradients of input and weight";
    EXPECT_EQ(b.written, 4.0 * (32 * 3 * 224 * 224 + 64 * 3 * 7 * 7));
}

TEST(Traffic, StrideIsWhereTheOperatorHasIt) {
    EXPECT_EQ(
        parse_stride("aten::cudnn_convolution", R"(["", "", "[3, 3]", "[2, 2]", "[1, 1]"])"), 2U);
    EXPECT_EQ(parse_stride("aten::miopen_convolution", R"(["", "", "", "[3, 3]", "[2, 2]"])"), 2U);
    EXPECT_EQ(parse_stride("aten::cudnn_convolution", ""), 1U);
    EXPECT_EQ(parse_stride("aten::cudnn_convolution", R"(["", "", "", "[0, 0]"])"), 1U);
}

TEST(Traffic, Streaming) {
    const Traffic add = expect_traffic(
        "aten::add_", "[[1024], [1024], []]", R"(["float", "float", "Scalar"])",
        KernelClass::kElementwise);
    EXPECT_EQ(add.read, 8192);
    EXPECT_EQ(add.written, 4096);
    const Traffic copy = expect_traffic(
        "aten::copy_", "[[1024], [1024], []]", R"(["c10::Half", "float", "Scalar"])",
        KernelClass::kCopyLayout);
    EXPECT_EQ(copy.read, 4096) << "the source";
    EXPECT_EQ(copy.written, 2048) << "the destination, which is not read";
    const Traffic fill = expect_traffic(
        "aten::fill_", "[[1024], []]", R"(["float", "Scalar"])", KernelClass::kElementwise);
    EXPECT_EQ(fill.read, 0);
    const Traffic norm = expect_traffic(
        "aten::cudnn_batch_norm", "[[8, 16, 4, 4], [16], [16]]", R"(["float", "float", "float"])",
        KernelClass::kNorm);
    EXPECT_EQ(norm.read, 2 * norm.written);
    EXPECT_EQ(norm.written, 4.0 * 8 * 16 * 4 * 4);
    const Traffic embedding = expect_traffic(
        "aten::embedding", "[[50000, 512], [16, 128]]", R"(["float", "long int"])",
        KernelClass::kEmbeddingGather);
    EXPECT_EQ(embedding.written, 4.0 * 16 * 128 * 512) << "rows that are looked up, not the table";
}

TEST(Traffic, UnknownIsNothing) {
    const auto shapes = parse_shapes("[[1024]]", R"(["float"])");
    EXPECT_FALSE(traffic_of("aten::mystery", shapes, KernelClass::kGemmConv));
    EXPECT_FALSE(traffic_of("aten::add_", shapes, KernelClass::kGemmConv)) << "no matrix operator";
    EXPECT_FALSE(traffic_of("aten::add_", {}, KernelClass::kElementwise));
    EXPECT_FALSE(traffic_of("aten::embedding", shapes, KernelClass::kEmbeddingGather));
}

}  // namespace
}  // namespace switchfold::kernel_traffic_test
