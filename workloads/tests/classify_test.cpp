// SPDX-License-Identifier: Apache-2.0
// Tests for what names in traces say.
#include "workloads/profile/classify.h"

#include "workloads/profile/gpu_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace switchfold::classify_test {
namespace {

TEST(ElementWidth, IsThatOfPyTorchsTypes) {
    // c10::toString of ScalarType.
    constexpr std::pair<const char*, std::uint64_t> kSizes[] = {
        {"Float", 4},          {"Half", 2},          {"BFloat16", 2},
        {"Double", 8},         {"Byte", 1},          {"Bool", 1},
        {"Char", 1},           {"Short", 2},         {"Int", 4},
        {"Long", 8},           {"UInt16", 2},        {"UInt32", 4},
        {"UInt64", 8},         {"ComplexHalf", 4},   {"ComplexFloat", 8},
        {"ComplexDouble", 16}, {"QInt8", 1},         {"QUInt8", 1},
        {"QInt32", 4},         {"Float8_e4m3fn", 1}, {"Float4_e2m1fn_x2", 1},
        {"Bits8", 1},          {"Bits16", 2}};
    for (const auto& [name, bytes] : kSizes)
        EXPECT_EQ(element_width(name)->bytes(1), Bytes(bytes)) << name;
    EXPECT_EQ(element_width("BFloat16")->type, Datatype::kBfloat16);
    EXPECT_FALSE(element_width("Mystery"));
}

TEST(Classify, KernelsOfOtherLibrariesCommunicate) {
    using Kind = CollectiveKind;
    const std::pair<const char*, Kind> kKnown[] = {
        {"void aiter::reduce_scatter_cross_device_store<8>(aiter::RankData*)",
         Kind::kReduceScatter},
        {"void aiter::allgather_lastdim<8>(aiter::RankData*)", Kind::kAllGather},
        {"tensorrt_llm::kernels::moe_a2a::moeA2ADispatchKernel<8>", Kind::kAllToAll},
        {"moeAllToAllKernel<8>", Kind::kAllToAll},
        {"void uccl::internode_ll::dispatch<true, 7168>", Kind::kAllToAll},
        {"mori::moe::EpCombineIntraNodeKernel<bf16>", Kind::kAllToAll},
        {"void mooncake::dispatch<8>", Kind::kAllToAll},
        {"void pplx::dispatchKernel<8>", Kind::kAllToAll},
        {"nvshmemi_reduce_kernel<float>", Kind::kAllReduce}};
    for (const auto& [name, kind] : kKnown) {
        EXPECT_TRUE(is_communication(name)) << name;
        EXPECT_EQ(classify_collective("", name), kind) << name;
    }
    for (const char* local :
         {"triton_red_fused_all_reduce_add_0",
          "void at::native::_scatter_gather_elementwise_kernel",
          "triton_poi_fused_all_gather_into_tensor_wait_tensor_1", "moe_permute_dispatch"})
        EXPECT_FALSE(is_communication(local)) << local;
    EXPECT_EQ(kernel_algorithm("ncclSymDevKernel_AllGather_STMC(x)"), "nvls") << "NCCL 2.27.0";
}

TEST(Classify, GatherAndScatterAreKnownByTheirCallsAlone) {
    EXPECT_EQ(classify_collective("gather", "ncclDevKernel_SendRecv"), CollectiveKind::kGather);
    EXPECT_EQ(classify_collective("nccl:scatter", "x"), CollectiveKind::kScatter);
    EXPECT_EQ(classify_collective("reduce_scatter", ""), CollectiveKind::kReduceScatter);
    EXPECT_EQ(classify_collective("all_gather", ""), CollectiveKind::kAllGather);
    EXPECT_EQ(classify_collective("", "gather_kernel"), std::nullopt);
}

TEST(PeakBandwidth, IsToldByMemoryWhereTheDriverHasNoName) {
    EXPECT_EQ(peak_bandwidth("AMD Radeon Graphics", 309'220'868'096), 8e12);
    EXPECT_EQ(peak_bandwidth("AMD Radeon Graphics", 274'861'129'728), 6e12);
    EXPECT_EQ(peak_bandwidth("AMD Radeon Graphics", 205'822'885'888), 5.3e12);
    EXPECT_EQ(peak_bandwidth("AMD Radeon Graphics", 17'179'869'184), std::nullopt);
    EXPECT_EQ(peak_bandwidth("NVIDIA H20-3e", 0), 4.8e12);
    EXPECT_EQ(peak_bandwidth("NVIDIA H20", 0), 4e12);
    EXPECT_EQ(peak_bandwidth("NVIDIA GB10", 0), 273e9);
}

}  // namespace
}  // namespace switchfold::classify_test
