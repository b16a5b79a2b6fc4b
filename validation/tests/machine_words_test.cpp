// SPDX-License-Identifier: Apache-2.0
#include "validation/machines/machine_words.h"

#include <gtest/gtest.h>

namespace switchfold::validation::machine_words_test {
namespace {

TEST(MachineWords, TheModelOfAGpuUnderItsManyNames) {
    const std::pair<const char*, const char*> names[] = {
        {"NVIDIA H100 80GB HBM3", "H100"},
        {"Tesla V100-SXM2-16GB", "V100"},
        {"A100", "A100"},
        {"NVIDIA A100-SXM4-40GB", "A100"},
        {"NVIDIA A100-PCIE-40GB", "A100"},
        {"nvidia h200", "H200"},
        {"NVIDIA GB200", "GB200"},
        {"GH200 480GB", "GH200"},
        {"NVIDIA H20", "H20"},
        {"NVIDIA L40S", "L40S"},
        {"Tesla T4", "T4"},
        {"AMD Instinct MI300X", "MI300X"},
        {"AMD Instinct MI250X/MI250", "MI250X"},
        {"NVIDIA GeForce RTX 4090", "RTX4090"},
        {"GeForce RTX 2080 Ti", "RTX2080TI"},
        {" AWS 2x p4de.24xlarge (EFA)", "A100"},
        {" AWS 4 x p5.48xlarge (EFA)", "H100"},
        {" AWS p5en.48xlarge", "H200"},
        {" AWS p6-b200.48xlarge", "B200"},
        {" GCP a3-megagpu-8g", "H100"},
        {" Azure Standard_ND96asr_v4", "A100"},
        {" Azure ND H200 v5", "H200"},
        {" OCI BM.GPU.H100.8", "H100"},
        {" OCI BM.GPU4.8", "A100"},
        {" DGX-1V", "V100"},
        {" DGX-2", "V100"},
        {" NVSwitch, PCIe Gen5, NVLink 4", ""},
        {"", ""}};
    for (const auto& [text, gpu] : names)
        EXPECT_EQ(machine_words(text).gpu, gpu) << text;
}

TEST(MachineWords, MemoryOfAGpu) {
    EXPECT_EQ(machine_words("NVIDIA A100-SXM4-80GB").memory_GB, 80U);
    EXPECT_EQ(machine_words("Titan X (12 GB), 25 Gb/s Ethernet").memory_GB, 12U);
    EXPECT_EQ(machine_words("A100-SXM4-40GB/80GB (Perlmutter)").memory_GB, std::nullopt);
    EXPECT_EQ(machine_words("A100, 200 GB/s, 100 Gbps, 40GbE").memory_GB, std::nullopt);
}

TEST(MachineWords, CardsAndModules) {
    EXPECT_EQ(machine_words("Tesla V100-SXM2-16GB").pcie, false);
    EXPECT_EQ(machine_words("Tesla V100-PCIE-16GB").pcie, true);
    EXPECT_EQ(machine_words("H100 PCIe").pcie, true);
    EXPECT_EQ(machine_words("H100 PCIe NVLink bridge").links, NodeLinks::kNvlinkBridge);
    EXPECT_EQ(machine_words("H100 PCIe, PCIe Gen5").links, NodeLinks::kPcie);
    EXPECT_EQ(machine_words("H100 PCIe").links, NodeLinks::kUnknown);
    EXPECT_EQ(machine_words("RTX 4090").pcie, true);
    EXPECT_EQ(machine_words("RTX 4090").links, NodeLinks::kPcie);
    EXPECT_EQ(machine_words("NVIDIA H100").pcie, std::nullopt);
    EXPECT_EQ(machine_words("NVIDIA H100 HGX, PCIe Gen5 host").links, NodeLinks::kNvswitch);
}

TEST(MachineWords, Links) {
    EXPECT_EQ(
        machine_words("V100 NVLink hybrid cube mesh (topo NV1/NV2/SYS)").links,
        NodeLinks::kNvlinkMesh);
    EXPECT_EQ(machine_words("A100 NVSwitch").links, NodeLinks::kNvswitch);
    EXPECT_EQ(machine_words("MI300X xGMI / Infinity Fabric").links, NodeLinks::kXgmi);
    EXPECT_EQ(machine_words("MI300X").links, NodeLinks::kXgmi);
    EXPECT_EQ(machine_words("A100").links, NodeLinks::kUnknown);
    EXPECT_EQ(machine_words("H100 NVLink, no NVSwitch").links, NodeLinks::kNvlinkMesh);
    EXPECT_EQ(machine_words("H100 NVLink, no NVSwitch multicast").links, NodeLinks::kUnknown);
    EXPECT_EQ(machine_words("H100 NVLink 4").links, NodeLinks::kUnknown);
}

TEST(MachineWords, Networks) {
    const auto network = [](const char* text) { return machine_words(text).network; };
    EXPECT_EQ(network("AWS 2x p4de.24xlarge (EFA)"), NetworkKind::kEfa);
    EXPECT_EQ(network("H100 GCP a3-mega (TCPXO/FasTrak)"), NetworkKind::kTcpxo);
    EXPECT_EQ(network("H100 NVLink 4 GPUs/node + InfiniBand"), NetworkKind::kInfiniband);
    EXPECT_EQ(network("H100 8x NDR"), NetworkKind::kInfiniband);
    EXPECT_EQ(network("H100 RoCE v2"), NetworkKind::kRoce);
    EXPECT_EQ(network("A100 NVSwitch"), NetworkKind::kUnknown);
    EXPECT_EQ(machine_words("A100, 8x HDR InfiniBand").network_Gbps, 200);
    EXPECT_EQ(machine_words("H100 InfiniBand NDR").network_Gbps, 400);
    EXPECT_EQ(machine_words("H100 RoCE 400 Gbps").network_Gbps, 400);
    EXPECT_EQ(machine_words("AWS p4d.24xlarge").network_Gbps, 100);
    EXPECT_EQ(machine_words("H100 InfiniBand").network_Gbps, std::nullopt);
    const MachineWords of_node = machine_words("A100, NVSwitch, 800 Gb/s InfiniBand a node");
    EXPECT_EQ(of_node.node_Gbps, 800);
    EXPECT_EQ(of_node.network_Gbps, std::nullopt);
    EXPECT_EQ(machine_words("A100, HDR InfiniBand, 800 Gb/s a node").network_Gbps, 200);
    EXPECT_EQ(machine_words("A100, HDR InfiniBand").node_Gbps, std::nullopt);
}

TEST(MachineWords, Counts) {
    EXPECT_EQ(machine_words("AWS 2x p4de.24xlarge (EFA)").nodes, 2U);
    EXPECT_EQ(machine_words("4 nodes of DGX A100").nodes, 4U);
    EXPECT_EQ(machine_words("NVSwitch (8x A100-SXM4)").nodes, std::nullopt);
    EXPECT_EQ(machine_words("H100, 8x NDR400").nodes, std::nullopt);
    const MachineWords partitions =
        machine_words("GB200 3 NVL4 partitions over InfiniBand, NCCL_NVLS_ENABLE=0");
    EXPECT_EQ(partitions.nodes, 3U);
    EXPECT_EQ(partitions.domain, 4U);
    EXPECT_EQ(machine_words("GB200 NVL72").domain, 72U);
}

TEST(MachineWords, PeerToPeer) {
    EXPECT_EQ(machine_words("RTX 4090, PCIe with patched P2P driver").peer_to_peer, true);
    EXPECT_EQ(machine_words("RTX 4090, NCCL_P2P_DISABLE=1").peer_to_peer, false);
    EXPECT_EQ(machine_words("RTX 2080 Ti, PCIe, no P2P").peer_to_peer, false);
    EXPECT_EQ(machine_words("RTX 4090, PCIe, P2P not available").peer_to_peer, false);
    EXPECT_EQ(machine_words("RTX 2080 Ti, PCIe").peer_to_peer, std::nullopt);
}

TEST(MachineWords, AgreementNeedsWhatBothSayToBeTheSame) {
    const MachineWords h100 = machine_words("H100 SXM, HGX NVSwitch");
    const MachineWords cluster = machine_words("H100 SXM, NVSwitch, InfiniBand NDR");
    const auto fits = [](const char* table, const MachineWords& system, bool several) {
        return agreement(machine_words(table), system, several).has_value();
    };
    EXPECT_TRUE(fits("NVIDIA H100", h100, false));
    EXPECT_FALSE(fits("NVIDIA H200", h100, false));
    EXPECT_FALSE(fits("NVIDIA H100 PCIe", h100, false));
    EXPECT_FALSE(fits("NVIDIA H100", h100, true));
    EXPECT_TRUE(fits("NVIDIA H100", cluster, true));
    EXPECT_TRUE(fits("NVIDIA H100, InfiniBand", cluster, true));
    EXPECT_FALSE(fits("NVIDIA H100, RoCE", cluster, true));
    EXPECT_FALSE(fits("NVIDIA H100, InfiniBand HDR", cluster, true));
    // A network that reduces is another machine, both ways; a switch between GPUs is not it.
    const MachineWords sharp = machine_words("H100 SXM, NVSwitch, InfiniBand NDR, SHARP");
    EXPECT_TRUE(fits("NVIDIA H100, InfiniBand NDR with SHARP", sharp, true));
    EXPECT_FALSE(fits("NVIDIA H100, InfiniBand NDR with SHARP", cluster, true));
    EXPECT_FALSE(fits("NVIDIA H100, InfiniBand NDR", sharp, true));
    EXPECT_TRUE(fits("NVIDIA H100, NVLink SHARP in use, InfiniBand NDR", cluster, true));
    // A single machine matches the system of one machine better than the cluster.
    EXPECT_GT(
        agreement(machine_words("NVIDIA H100 NVSwitch"), h100, false),
        agreement(machine_words("NVIDIA H100 NVSwitch"), cluster, false));
}

}  // namespace
}  // namespace switchfold::validation::machine_words_test
