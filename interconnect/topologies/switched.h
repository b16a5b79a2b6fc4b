// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "interconnect/topologies/pcie_tree.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace switchfold {

/// Every GPU is connected to every switch of one layer: DGX A100, HGX H100, NVL72.
struct SwitchedTopology {
    static constexpr std::string_view kType = "switched";
    std::uint32_t gpus = 8;
    std::vector<std::uint32_t> lanes_to_switch;
    LinkParams link;
    SwitchParams node;
    std::optional<PcieTree> host_pcie;

    static constexpr auto fields() {
        return list_of(
            field("gpus", &SwitchedTopology::gpus, "GPUs of the domain.", 1U, 65'536U).required(),
            field(
                "lanes_to_switch", &SwitchedTopology::lanes_to_switch,
                "Lanes from each GPU to each switch, one number per switch.", 1U, 1024U)
                .required(),
            field("link", &SwitchedTopology::link, "The links between GPUs and switches.")
                .required(),
            field("switch", &SwitchedTopology::node, "The switches.").required(),
            field(
                "host_pcie", &SwitchedTopology::host_pcie,
                "PCIe beside the GPUs' own links, used by host copies; absent: every GPU's host "
                "copies run at full rate."));
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;
};

/// Boards of GPUs and switches: every GPU is connected to its board's switches, and each switch to
/// the switch of the same index on every other board. DGX-2 has two boards.
struct BoardsTopology {
    static constexpr std::string_view kType = "boards";
    std::uint32_t boards = 2;
    std::uint32_t gpus_per_board = 8;
    std::uint32_t switches_per_board = 6;
    std::uint32_t lanes_to_switch = 1;
    std::uint32_t trunk_lanes = 8;
    LinkParams link;
    LinkParams trunk_link;
    SwitchParams node;
    std::optional<PcieTree> host_pcie;

    static constexpr auto fields() {
        return list_of(
            field("boards", &BoardsTopology::boards, "Boards.", 2U, 64U),
            field("gpus_per_board", &BoardsTopology::gpus_per_board, "GPUs per board.", 1U, 1024U)
                .required(),
            field(
                "switches_per_board", &BoardsTopology::switches_per_board, "Switches per board.",
                1U, 256U)
                .required(),
            field(
                "lanes_to_switch", &BoardsTopology::lanes_to_switch,
                "Lanes from each GPU to each switch of its board.", 1U, 1024U),
            field(
                "trunk_lanes", &BoardsTopology::trunk_lanes,
                "Lanes from a switch to the one of the same number on another board.", 1U, 1024U)
                .required(),
            field("link", &BoardsTopology::link, "The links between GPUs and switches.").required(),
            field("trunk_link", &BoardsTopology::trunk_link, "The links between boards.")
                .required(),
            field("switch", &BoardsTopology::node, "The switches.").required(),
            field(
                "host_pcie", &BoardsTopology::host_pcie,
                "PCIe beside the GPUs' own links, used by host copies; absent: every GPU's host "
                "copies run at full rate."));
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;
};

}  // namespace switchfold
