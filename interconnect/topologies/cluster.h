// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "interconnect/topologies/direct.h"
#include "interconnect/topologies/networks.h"
#include "interconnect/topologies/pcie.h"
#include "interconnect/topologies/switched.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace switchfold {

/// Alternatives for a single machine.
using MachineTopologyParams =
    std::variant<SwitchedTopology, BoardsTopology, DirectTopology, FullMeshTopology, PcieTopology>;

/// The NICs of each machine. NIC i of n is attached beside GPU i * gpus / n: to that GPU's PCIe
/// switch, which is added here, or, if the machine already has PCIe, to the other end of the GPU's
/// PCIe link. GPU g of n is attached to PCIe switch g * pcie_switches / n.
struct NicParams {
    std::uint32_t count = 0;
    std::uint32_t pcie_switches = 0;
    LinkParams link;
    std::optional<LinkParams> gpu_link;
    SwitchParams pcie_switch;
    SwitchParams nic;

    static constexpr auto fields() {
        return list_of(
            field("count", &NicParams::count, "NICs per machine; 0: one per GPU.", 0U, 1024U),
            field(
                "pcie_switches", &NicParams::pcie_switches,
                "PCIe switches, among which GPUs and their NICs are divided evenly; 0: one per "
                "GPU.",
                0U, 1024U),
            field("link", &NicParams::link, "Each NIC's PCIe link.").required(),
            field(
                "gpu_link", &NicParams::gpu_link,
                "Each GPU's PCIe link to its switch. Absent if the machine's topology has its own "
                "PCIe; then no switches are added."),
            field("pcie_switch", &NicParams::pcie_switch, "The PCIe switches."),
            field("nic", &NicParams::nic, "Forwarding latency and limits of the NIC.").required());
    }
};

/// Equal machines with NICs, joined by a network.
struct ClusterTopology {
    static constexpr std::string_view kType = "cluster";
    std::uint32_t nodes = 2;
    PathOr<MachineTopologyParams> node;
    NicParams nics;
    NetworkParams network;
    std::optional<CongestionParams> congestion;

    static constexpr auto fields() {
        return list_of(
            field("nodes", &ClusterTopology::nodes, "Machines.", 1U, 16'384U).required(),
            field(
                "node", &ClusterTopology::node,
                "Topology of each machine, or the file that holds it (SYSTEM.json#/topology).")
                .required(),
            field("nics", &ClusterTopology::nics, "NICs of each machine.").required(),
            field("network", &ClusterTopology::network, "The network between the NICs.").required(),
            field(
                "congestion", &ClusterTopology::congestion,
                "What the network does about congestion. Absent: static routes and credits, no "
                "rates, no loss."));
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;

private:
    [[nodiscard]] Topology build_machine() const;
    void check_nics(const Topology& bare, ParamChecker& checker) const;
};

}  // namespace switchfold
