// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "interconnect/topologies/networks.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace switchfold {

/// A torus of two or three dimensions, as used for TPUs: every GPU has a router, and routers
/// forward in dimension order. The last dimension varies fastest with the rank. A dimension of size
/// two has a single link of double width.
struct TorusTopology {
    static constexpr std::string_view kType = "torus";
    std::vector<std::uint32_t> dimensions;
    std::uint32_t lanes = 1;
    LinkParams gpu_link;
    LinkParams link;
    SwitchParams router;

    static constexpr auto fields() {
        return list_of(
            field(
                "dimensions", &TorusTopology::dimensions,
                "GPUs along each dimension; two or three numbers.", 2U, 4096U)
                .required(),
            field("lanes", &TorusTopology::lanes, "Lanes between neighbours.", 1U, 1024U),
            field("gpu_link", &TorusTopology::gpu_link, "Each GPU's link to its router.")
                .required(),
            field("link", &TorusTopology::link, "The links between routers.").required(),
            field("router", &TorusTopology::router, "The routers.").required());
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;
};

/// GPUs attached directly to a network, as one domain.
struct NetworkTopology {
    static constexpr std::string_view kType = "network";
    std::uint32_t gpus = 16;
    NetworkParams network;

    static constexpr auto fields() {
        return list_of(
            field("gpus", &NetworkTopology::gpus, "GPUs.", 1U, 65'536U).required(),
            field("network", &NetworkTopology::network, "The network between the GPUs.")
                .required());
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;
};

}  // namespace switchfold
