// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"
#include "sim/core/params.h"

#include <cstdint>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace switchfold {

/// Every GPU is joined to every switch of one layer: DGX A100, HGX H100, NVL72.
struct SwitchedTopology {
    static constexpr std::string_view kType = "switched";
    std::uint32_t gpus = 8;
    std::vector<std::uint32_t> lanes_to_switch;
    LinkParams link;
    SwitchParams node;

    static constexpr auto fields() {
        return std::tuple{
            field("gpus", &SwitchedTopology::gpus, "GPUs of the domain.", 1U, 65'536U).required(),
            field(
                "lanes_to_switch",
                &SwitchedTopology::lanes_to_switch,
                "Lanes from each GPU to each switch, one number a switch.")
                .required(),
            field("link", &SwitchedTopology::link, "The links between GPUs and switches.")
                .required(),
            field("switch", &SwitchedTopology::node, "The switches.").required()};
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;
};

struct DirectEdge {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t lanes = 1;
    static constexpr auto fields() {
        return std::tuple{
            field("a", &DirectEdge::a, "One GPU.").required(),
            field("b", &DirectEdge::b, "The other GPU.").required(),
            field("lanes", &DirectEdge::lanes, "Lanes between them.", 1U, 1024U)};
    }
};

/// GPUs wired to each other: hybrid cube mesh, full mesh. What no direct link joins goes through
/// the host.
struct DirectTopology {
    static constexpr std::string_view kType = "direct";
    std::uint32_t gpus = 8;
    std::vector<DirectEdge> edges;
    LinkParams link;
    LinkParams host_link;
    SwitchParams host;

    static constexpr auto fields() {
        return std::tuple{
            field("gpus", &DirectTopology::gpus, "GPUs of the machine.", 1U, 1024U).required(),
            field("edges", &DirectTopology::edges, "Which GPUs are joined, and by how many lanes.")
                .required(),
            field("link", &DirectTopology::link, "The links between GPUs.").required(),
            field("host_link", &DirectTopology::host_link, "Each GPU's link to the host.")
                .required(),
            field("host", &DirectTopology::host, "The host's bridge between those links.")};
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;
};

using TopologyParams = std::variant<SwitchedTopology, DirectTopology>;

[[nodiscard]] Topology build_topology(const TopologyParams& params);

}  // namespace switchfold
