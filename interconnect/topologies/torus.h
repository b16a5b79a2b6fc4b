// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topologies/networks.h"
#include "interconnect/topology.h"
#include "sim/core/params.h"

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

namespace switchfold {

/// A torus of two or three dimensions, as TPUs are joined: every GPU has a router, and routers
/// forward what is not for their own, dimension by dimension. The last dimension runs fastest
/// through the ranks. A dimension of two has one link of two lanes' worth.
struct TorusTopology {
    static constexpr std::string_view kType = "torus";
    std::vector<std::uint32_t> dimensions;
    std::uint32_t lanes = 1;
    LinkParams gpu_link;
    LinkParams link;
    SwitchParams router;

    static constexpr auto fields() {
        return std::tuple{
            field(
                "dimensions",
                &TorusTopology::dimensions,
                "GPUs along each dimension; two or three numbers.",
                2U,
                4096U)
                .required(),
            field("lanes", &TorusTopology::lanes, "Lanes between neighbours.", 1U, 1024U),
            field("gpu_link", &TorusTopology::gpu_link, "Each GPU's way to its router.").required(),
            field("link", &TorusTopology::link, "The links between routers.").required(),
            field("router", &TorusTopology::router, "The routers.").required()};
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;
};

/// GPUs that hang on a network themselves, as one domain.
struct NetworkTopology {
    static constexpr std::string_view kType = "network";
    std::uint32_t gpus = 16;
    NetworkParams network;

    static constexpr auto fields() {
        return std::tuple{
            field("gpus", &NetworkTopology::gpus, "GPUs.", 1U, 65'536U).required(),
            field("network", &NetworkTopology::network, "What joins them.").required()};
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] Topology build() const;
};

}  // namespace switchfold
