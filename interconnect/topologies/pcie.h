// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "interconnect/topologies/direct.h"
#include "interconnect/topologies/pcie_tree.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace switchfold {

/// GPUs connected only by a host's PCIe and, optionally, NVLink bridges between some of them. If
/// peers cannot access each other, their traffic is written to host memory and read from there.
struct PcieTopology : PcieTree {
    static constexpr std::string_view kType = "pcie";
    std::uint32_t gpus = 4;
    bool peer_to_peer = true;
    std::vector<DirectEdge> bridges;
    std::optional<LinkParams> bridge_link;

    static constexpr auto fields() {
        return joined(
            list_of(
                field("gpus", &PcieTopology::gpus, "GPUs of the machine.", 1U, 1024U).required(),
                field(
                    "peer_to_peer", &PcieTopology::peer_to_peer,
                    "GPUs access each other over PCIe; false: they exchange data through host "
                    "memory, in two copies (needs memory_link).")),
            joined(
                PcieTree::fields(),
                list_of(
                    field(
                        "bridges", &PcieTopology::bridges, "Pairs of GPUs with an NVLink bridge."),
                    field(
                        "bridge_link", &PcieTopology::bridge_link,
                        "The links of the bridges; needed with bridges."))));
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;
};

}  // namespace switchfold
