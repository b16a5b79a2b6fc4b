// SPDX-License-Identifier: Apache-2.0
#include "validation/machines/machines.h"

#include "sim/machine/system_queries.h"

#include <gtest/gtest.h>

namespace switchfold::validation::machines_test {
namespace {

class MachinesTest : public ::testing::Test {
protected:
    [[nodiscard]] MachineMatch
    find(const char* gpu, const char* interconnect, std::uint32_t gpus, std::uint32_t nodes) const {
        return machines_.find(
            {gpu, interconnect, gpus, nodes == 0 ? std::nullopt : std::optional(nodes)});
    }
    Machines machines_{SWITCHFOLD_SOURCE_DIR};
};

TEST_F(MachinesTest, OneMachineUnderManyNames) {
    EXPECT_EQ(
        find("NVIDIA H100 80GB HBM3", "HGX NVSwitch (4 of 8)", 4, 1).machine->name, "hgx_h100");
    EXPECT_EQ(find("NVIDIA H100", "NVSwitch", 8, 1).machine->name, "hgx_h100");
    EXPECT_EQ(find("", "AWS p5.48xlarge", 8, 1).machine->name, "hgx_h100");
    EXPECT_EQ(find("A100", "", 3, 1).machine->name, "dgx_a100");
    EXPECT_EQ(find("NVIDIA A100-SXM4-40GB", "OCI BM.GPU4.8", 8, 0).machine->name, "dgx_a100");
    EXPECT_EQ(
        find("A100-SXM4-80GB", "NVLink (NVSwitch) in a node", 8, 1).machine->name, "hgx_a100");
    EXPECT_EQ(find("A100-SXM4-40GB/80GB", "NVSwitch", 8, 1).machine->name, "dgx_a100");
    // Of two machines the one there is, whatever its memory.
    EXPECT_EQ(
        find("A100-SXM4-80GB", "NVSwitch, InfiniBand HDR", 16, 2).machine->name, "dgx_a100_hdr");
    // Memory alone does not tell a cloud's network.
    EXPECT_EQ(
        find("A100-SXM4-80GB", "", 16, 2).machine->name, find("A100", "", 16, 2).machine->name);
    EXPECT_EQ(
        find("Tesla V100-SXM2-16GB", "NVLink hybrid cube mesh (topo)", 8, 1).machine->name,
        "dgx1_v100");
    EXPECT_EQ(find("NVIDIA H200", "Azure ND H200 v5 NVSwitch", 8, 1).machine->name, "hgx_h200");
}

TEST_F(MachinesTest, MachinesAddedLaterTakeWhatIsTheirsAndNothingElse) {
    const auto name = [&](const char* gpu, const char* words, std::uint32_t gpus, int nodes) {
        const MachineMatch match = find(gpu, words, gpus, static_cast<std::uint32_t>(nodes));
        return match.machine ? match.machine->name : match.why;
    };
    EXPECT_EQ(
        name("GB200", "3 NVL8 partitions over InfiniBand", 24, 0), "gb200_nvl8_partitions_ndr");
    EXPECT_EQ(name("GB200", "3 NVL4 partitions over InfiniBand", 12, 0), "gb200_partitions_ndr");
    EXPECT_EQ(
        name("NVIDIA A100-SXM4-80GB", "NVLink mesh of 4, 4 links a pair, no NVSwitch", 4, 1),
        "a100_4gpu");
    EXPECT_EQ(name("A100", "", 4, 1), "dgx_a100") << "most boards have switches";
    EXPECT_EQ(name("A100", "NVLink mesh, Slingshot", 8, 2), "alps_a100");
    EXPECT_EQ(name("", "AWS 2x p6-b200.48xlarge (EFA)", 16, 2), "p6_b200_efa");
    EXPECT_EQ(name("NVIDIA B200", "AWS p6-b200.48xlarge NVSwitch", 8, 1), "hgx_b200");
    EXPECT_EQ(name("NVIDIA B200", "GCP a4-highgpu-8g", 16, 2), "a4_b200_gib");
    EXPECT_EQ(name("AMD Instinct MI300X", "RoCE", 16, 2), "mi300x_roce");
    EXPECT_EQ(name("NVIDIA L40S", "PCIe Gen4 x16", 4, 1), "l40s_pcie");
    EXPECT_EQ(
        name("NVIDIA RTX PRO 6000 Blackwell Server Edition", "PCIe Gen5 x16", 8, 1),
        "rtxpro6000_pcie");
    EXPECT_EQ(name("Tesla P40", "PCIe", 8, 1), "p40_pcie");
    EXPECT_EQ(name("Tesla K40", "Ethernet", 8, 8), "k40_ethernet");
    EXPECT_EQ(
        name("Titan X (12 GB)", "one GPU a machine, 25 Gb/s Ethernet", 8, 8), "titan_x_25gbe");
    EXPECT_EQ(name("Titan X", "40 Gb/s Ethernet", 8, 8), "titan_x_ethernet");
    EXPECT_EQ(name("NVIDIA H20", "HGX NVSwitch", 8, 1), "hgx_h20");
    EXPECT_EQ(name("NVIDIA H800", "NVSwitch, InfiniBand NDR", 16, 2), "hgx_h800_ndr");
    EXPECT_EQ(name("NVIDIA B300", "HGX NVSwitch", 8, 1), "hgx_b300");
    EXPECT_EQ(name("NVIDIA GB300", "NVL72", 72, 1), "gb300_nvl72");
}

TEST_F(MachinesTest, GenerationsOfOneNameAreApart) {
    const auto name = [&](const char* gpu, const char* words, std::uint32_t gpus, int nodes) {
        const MachineMatch match = find(gpu, words, gpus, static_cast<std::uint32_t>(nodes));
        return match.machine ? match.machine->name : match.why;
    };
    EXPECT_EQ(name("NVIDIA RTX A6000", "PCIe Gen4", 4, 1), "rtxa6000_pcie");
    EXPECT_EQ(name("NVIDIA RTX A6000", "NVLink bridge", 2, 1), "rtxa6000_nvbridge");
    EXPECT_EQ(name("A6000", "", 4, 1), "rtxa6000_pcie");
    EXPECT_EQ(name("NVIDIA RTX 6000 Ada Generation", "PCIe", 4, 1), "rtx6000ada_pcie");
    EXPECT_EQ(name("NVIDIA RTX PRO 6000 Blackwell", "PCIe", 4, 1), "rtxpro6000_pcie");
    EXPECT_EQ(name("Quadro RTX 6000", "PCIe", 4, 1), "no system has the GPU RTX6000");
    EXPECT_EQ(name("NVIDIA H100 NVL", "NVLink bridge", 2, 1), "h100_nvl_nvbridge");
    EXPECT_EQ(name("NVIDIA H200 NVL", "4-way NVLink bridge", 4, 1), "h200_nvl_nvbridge");
    EXPECT_EQ(name("NVIDIA H100 PCIe", "PCIe Gen5", 8, 1), "h100_pcie");
    EXPECT_EQ(name("NVIDIA GeForce RTX 3090", "NVLink", 2, 1), "rtx3090_nvbridge");
    EXPECT_EQ(name("NVIDIA GeForce RTX 3090", "PCIe", 8, 1), "rtx3090_pcie_no_p2p");
    EXPECT_EQ(name("NVIDIA A100 80GB PCIe", "PCIe", 8, 1), "a100_pcie");
    EXPECT_EQ(name("A100-PCIE-40GB", "NVLink bridge", 2, 1), "a100_pcie_nvbridge");
    EXPECT_EQ(name("A100-PCIE-40GB", "PCIe", 8, 1), "a100_pcie_40gb");
    EXPECT_EQ(name("NVIDIA A10G", "AWS g5.48xlarge", 8, 1), "a10g_pcie");
    EXPECT_EQ(name("NVIDIA A40", "", 4, 1), "a40_pcie");
    EXPECT_EQ(name("AMD Instinct MI355X", "xGMI", 8, 1), "mi355x_8");
    EXPECT_EQ(name("NVIDIA A800-SXM4-80GB", "NVSwitch", 8, 1), "hgx_a800");
    EXPECT_EQ(name("Tesla P100-SXM2-16GB", "NVLink (DGX-1)", 8, 1), "dgx1_p100");
    EXPECT_EQ(name("NVIDIA H100 80GB HBM3", "RoCE 400G", 32, 4), "dgx_h100_roce");
    EXPECT_EQ(name("", "BM.GPU.H200.8, RoCE", 16, 2), "hgx_h200_roce");
}

TEST_F(MachinesTest, TheNumberOfNicsCounts) {
    const auto name = [&](const char* words) {
        return find("NVIDIA A100-SXM4-40GB", words, 24, 3).machine->name;
    };
    EXPECT_EQ(name("NVSwitch, InfiniBand HDR"), "dgx_a100_hdr");
    EXPECT_EQ(name("NVSwitch, 8x HDR InfiniBand"), "dgx_a100_hdr");
    EXPECT_EQ(name("NVSwitch, 4x Mellanox HDR Infiniband"), "hgx_a100_hdr_4_nics");
    EXPECT_EQ(name("NVSwitch, 4 HDR NICs"), "hgx_a100_hdr_4_nics");
    EXPECT_EQ(name("NVSwitch, 4x 200 Gb/s HDR"), "hgx_a100_hdr_4_nics");
    EXPECT_EQ(name("NVSwitch, InfiniBand HDR, 800 Gb/s a node"), "hgx_a100_hdr_4_nics");
}

TEST_F(MachinesTest, NodesAndGpusOfANodeFollowTheTable) {
    const MachineMatch as_is = find("A100", "NVSwitch, InfiniBand HDR", 16, 2);
    ASSERT_TRUE(as_is.machine) << as_is.why;
    EXPECT_EQ(gpus_of(as_is.machine->system), 16U);
    const MachineMatch four = find("A100", "DGX A100, InfiniBand", 32, 4);
    ASSERT_TRUE(four.machine) << four.why;
    EXPECT_EQ(four.machine->nodes, 4U);
    EXPECT_EQ(gpus_of(four.machine->system), 32U);
    const MachineMatch half = find("A100", "4 GPUs/node + InfiniBand HDR", 8, 2);
    ASSERT_TRUE(half.machine) << half.why;
    EXPECT_EQ(gpus_of(half.machine->system), 8U);
    EXPECT_EQ(half.machine->overrides.size(), 4U);  // nodes, GPUs, NICs, PCIe switches
    // If the number of nodes is not given, the fewest nodes that hold the GPUs are taken.
    EXPECT_EQ(find("A100", "InfiniBand HDR", 24, 0).machine->nodes, 3U);
}

TEST_F(MachinesTest, SaysWhyNothingFits) {
    EXPECT_EQ(
        find("Tesla Z9", "", 8, 1).why,
        "neither the GPU nor the interconnect names a GPU that is known");
    EXPECT_EQ(find("NVIDIA A16", "", 8, 1).why, "no system has the GPU A16");
    EXPECT_NE(
        find("A100", "NVSwitch, Slingshot", 16, 2).why.find("not Slingshot"), std::string::npos);
    EXPECT_NE(
        find("A100", "InfiniBand HDR", 15, 2).why.find("do not spread evenly"), std::string::npos);
    EXPECT_NE(find("A100", "NVSwitch", 16, 1).why.find("has 8 GPUs"), std::string::npos);
    // Switches of 40 ports join at most 40 groups of 20 machines.
    EXPECT_NE(
        find("A100", "NVSwitch, InfiniBand HDR", 8000, 1000)
            .why.find("dgx_a100_hdr of 1000 machines: "),
        std::string::npos);
}

TEST_F(MachinesTest, NvlsOffTakesTheReductionUnitsAwayAndNothingElse) {
    const MachineMatch match = find("NVIDIA H100", "NVSwitch", 8, 1);
    EXPECT_TRUE(can_reduce_in_switch(match.machine->system, 8));
    const SystemParams off = without_reduction(*match.machine);
    EXPECT_FALSE(can_reduce_in_switch(off, 8));
    EXPECT_EQ(gpus_of(off), 8U);
}

TEST(FittedSources, OnlySourcesThatSaySo) {
    const Json json = Json::parse(R"({
        "a": {"x": 1, "$source": {"x": "fitted on table_one up to 1 KiB and table_two"}},
        "b": [{"y": 2, "$source": "data sheet; see table_three"}],
        "note": "fitted on table_four"})");
    const auto texts = fitted_sources(json);
    ASSERT_EQ(texts.size(), 1U);
    EXPECT_TRUE(names_table(texts[0], "table_one"));
    EXPECT_TRUE(names_table(texts[0], "table_two"));
    EXPECT_FALSE(names_table(texts[0], "table"));
    EXPECT_FALSE(names_table(texts[0], "one"));
    EXPECT_FALSE(names_table("fitted on h100_4g_x", "h100_4g"));
    EXPECT_TRUE(names_table("fitted on aic_h100_2.29.2_* tables", "aic_h100_2.29.2_ag_8g"));
    EXPECT_FALSE(names_table("fitted on aic_h100_2.29.2_* tables", "aic_h200_2.29.2_ag_8g"));
    EXPECT_FALSE(names_table("fitted on all: * of them", "h100_4g"));
    EXPECT_TRUE(names_table("fitted on h100_4g_x, h100_4g.", "h100_4g"));
}

}  // namespace
}  // namespace switchfold::validation::machines_test
