// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchfold::validation {

/// Connection between the GPUs of a machine.
enum class NodeLinks { kUnknown, kNvswitch, kNvlinkMesh, kNvlinkBridge, kPcie, kXgmi };
/// Network between machines.
enum class NetworkKind { kUnknown, kInfiniband, kRoce, kEfa, kTcpx, kTcpxo, kSlingshot, kEthernet };

/// What the words of a table, a trace or a system's measured_as state about a machine. Unstated
/// properties are empty, none or kUnknown.
struct MachineWords {
    std::string gpu;                         ///< "H100", "MI300X", "RTX4090"
    std::optional<bool> pcie;                ///< a PCIe card, not a module on a board
    std::optional<std::uint32_t> memory_GB;  ///< of a GPU that comes with several sizes
    NodeLinks links = NodeLinks::kUnknown;
    bool nvlink = false;          ///< NVLink is mentioned, without its topology
    bool without_switch = false;  ///< states that there is no NVSwitch
    NetworkKind network = NetworkKind::kUnknown;
    std::optional<double> network_Gbps;   ///< per NIC
    std::optional<double> node_Gbps;      ///< of all NICs of a node
    bool network_reduces = false;         ///< "InfiniBand NDR with SHARP"; not "NVLink SHARP"
    std::optional<std::uint32_t> nics;    ///< of a node: "8x HDR"
    std::optional<std::uint32_t> nodes;   ///< "2x p4de.24xlarge", "3 NVL4 partitions"
    std::optional<std::uint32_t> domain;  ///< GPUs in one NVLink domain: "NVL4", "NVL72"
    std::optional<bool> peer_to_peer;     ///< PCIe: whether GPUs may write to each other
};

/// Parses free text: names of GPUs, cloud machines, links and networks.
[[nodiscard]] MachineWords machine_words(std::string_view text);

/// How well a system described by `system` represents a machine described by `table`: larger if
/// more properties agree; none if one differs that both state. Network properties count only for
/// several nodes.
[[nodiscard]] std::optional<int>
agreement(const MachineWords& table, const MachineWords& system, bool several_nodes);
/// The differing properties, in words for a report; empty if none differ.
[[nodiscard]] std::string
difference(const MachineWords& table, const MachineWords& system, bool several_nodes);

[[nodiscard]] std::string_view to_string(NodeLinks links);
[[nodiscard]] std::string_view to_string(NetworkKind network);

}  // namespace switchfold::validation
