// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace switchfold {

struct DirectEdge {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t lanes = 1;
    static constexpr auto fields() {
        return list_of(
            field("a", &DirectEdge::a, "One GPU.").required(),
            field("b", &DirectEdge::b, "The other GPU.").required(),
            field("lanes", &DirectEdge::lanes, "Lanes between them.", 1U, 1024U));
    }
};

/// Rejects edges to GPUs that do not exist, self-loops, and duplicate pairs.
void check_edges(
    const std::vector<DirectEdge>& edges, std::uint32_t gpus, std::string_view pointer,
    ParamChecker& checker);

/// GPUs wired directly to each other, for example as a hybrid cube mesh. Pairs without a direct
/// link communicate through a GPU with links to both, or through the host.
struct DirectTopology {
    static constexpr std::string_view kType = "direct";
    std::uint32_t gpus = 8;
    std::vector<DirectEdge> edges;
    LinkParams link;
    LinkParams host_link;
    SwitchParams host;
    bool relay = true;

    static constexpr auto fields() {
        return list_of(
            field("gpus", &DirectTopology::gpus, "GPUs of the machine.", 1U, 1024U).required(),
            field(
                "edges", &DirectTopology::edges,
                "Direct links: pairs of GPUs with their number of lanes.")
                .required(),
            field("link", &DirectTopology::link, "The links between GPUs.").required(),
            field("host_link", &DirectTopology::host_link, "Each GPU's link to the host.")
                .required(),
            field("host", &DirectTopology::host, "The host's bridge between those links."),
            field(
                "relay", &DirectTopology::relay,
                "Pairs without a direct link communicate through the memory of a GPU linked to "
                "both, as in NCCL since 2.8 (NVB); false: through the host."));
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;
};

/// Every GPU is wired to every other: MI300X, four H100 without switches.
struct FullMeshTopology {
    static constexpr std::string_view kType = "full_mesh";
    std::uint32_t gpus = 8;
    std::uint32_t lanes = 1;
    LinkParams link;
    LinkParams host_link;
    SwitchParams host;

    static constexpr auto fields() {
        return list_of(
            field("gpus", &FullMeshTopology::gpus, "GPUs of the machine.", 1U, 256U).required(),
            field("lanes", &FullMeshTopology::lanes, "Lanes of each pair.", 1U, 1024U),
            field("link", &FullMeshTopology::link, "The links between GPUs.").required(),
            field("host_link", &FullMeshTopology::host_link, "Each GPU's link to the host.")
                .required(),
            field("host", &FullMeshTopology::host, "The host's bridge between those links."));
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;
};

}  // namespace switchfold
