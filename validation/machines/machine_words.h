// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchfold::validation {

/// How GPUs of one machine are joined.
enum class NodeLinks { kUnknown, kNvswitch, kNvlinkMesh, kNvlinkBridge, kPcie, kXgmi };
/// How machines are joined.
enum class NetworkKind { kUnknown, kInfiniband, kRoce, kEfa, kTcpx, kTcpxo, kSlingshot, kEthernet };

/// What the words of a table, of a trace or of a system's measured_as say about a machine. What
/// they do not say is empty, none or kUnknown.
struct MachineWords {
    std::string gpu;           ///< "H100", "MI300X", "RTX4090"
    std::optional<bool> pcie;  ///< the GPU is a PCIe card, not a module on a board
    NodeLinks links = NodeLinks::kUnknown;
    bool nvlink = false;          ///< names NVLink, if not how it joins the GPUs
    bool without_switch = false;  ///< says that there is no NVSwitch
    NetworkKind network = NetworkKind::kUnknown;
    std::optional<double> network_Gbps;   ///< of one NIC
    std::optional<std::uint32_t> nodes;   ///< "2x p4de.24xlarge", "3 NVL4 partitions"
    std::optional<std::uint32_t> domain;  ///< GPUs behind one NVLink domain: "NVL4", "NVL72"
    std::optional<bool> peer_to_peer;     ///< PCIe: may GPUs write to each other
};

/// Reads free text: names of GPUs, of cloud machines, of links and networks.
[[nodiscard]] MachineWords machine_words(std::string_view text);

/// How well a system described by `system` stands for a machine described by `table`: none if
/// something they both say differs, else larger for more that agrees. What a network is only counts
/// for more than one node.
[[nodiscard]] std::optional<int>
agreement(const MachineWords& table, const MachineWords& system, bool several_nodes);
/// What differs, in words, for a report; empty if nothing does.
[[nodiscard]] std::string
difference(const MachineWords& table, const MachineWords& system, bool several_nodes);

[[nodiscard]] std::string_view to_string(NodeLinks links);
[[nodiscard]] std::string_view to_string(NetworkKind network);

}  // namespace switchfold::validation
