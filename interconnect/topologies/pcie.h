// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topologies/direct.h"
#include "interconnect/topology.h"
#include "sim/core/params.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace switchfold {

/// GPUs on the PCIe of a host: root complexes (sockets) joined to each other, PCIe switches below
/// them, GPUs spread evenly; bridges of NVLink between some GPUs if there are any. Where peers
/// cannot reach each other, their traffic is written to the host's memory and read from there.
struct PcieTopology {
    static constexpr std::string_view kType = "pcie";
    std::uint32_t gpus = 4;
    std::uint32_t roots = 1;
    std::uint32_t switches = 0;
    bool peer_to_peer = true;
    LinkParams gpu_link;
    std::optional<LinkParams> switch_link;
    std::optional<LinkParams> root_link;
    std::optional<LinkParams> memory_link;
    SwitchParams root;
    SwitchParams node;
    SwitchParams memory;
    std::vector<DirectEdge> bridges;
    std::optional<LinkParams> bridge_link;

    static constexpr auto fields() {
        return std::tuple{
            field("gpus", &PcieTopology::gpus, "GPUs of the machine.", 1U, 1024U).required(),
            field("roots", &PcieTopology::roots, "Root complexes, one a socket.", 1U, 64U),
            field(
                "switches",
                &PcieTopology::switches,
                "PCIe switches of all root complexes together; 0: GPUs hang on the roots.",
                0U,
                1024U),
            field(
                "peer_to_peer",
                &PcieTopology::peer_to_peer,
                "GPUs reach each other over PCIe; else through host memory, in two copies."),
            field("gpu_link", &PcieTopology::gpu_link, "Each GPU's link.").required(),
            field(
                "switch_link",
                &PcieTopology::switch_link,
                "Each PCIe switch's link to its root complex; needed with switches."),
            field(
                "root_link",
                &PcieTopology::root_link,
                "The links between root complexes; needed with several."),
            field(
                "memory_link",
                &PcieTopology::memory_link,
                "Each root complex's path to memory; needed without peer_to_peer."),
            field("root", &PcieTopology::root, "The root complexes.").required(),
            field("switch", &PcieTopology::node, "The PCIe switches."),
            field("memory", &PcieTopology::memory, "Host memory: latency of a write and a read."),
            field("bridges", &PcieTopology::bridges, "GPUs joined directly as well, by NVLink."),
            field(
                "bridge_link",
                &PcieTopology::bridge_link,
                "The links of the bridges; needed with bridges.")};
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;
};

}  // namespace switchfold
