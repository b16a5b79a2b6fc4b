// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <string_view>

namespace consumer {

/// 2^dimensions GPUs, each with its own router. A router is linked to the routers whose numbers
/// differ from its own in one bit.
struct HypercubeTopology {
    static constexpr std::string_view kType = "hypercube";
    std::uint32_t dimensions = 3;
    std::uint32_t lanes = 1;
    switchfold::LinkParams gpu_link;
    switchfold::LinkParams link;
    switchfold::SwitchParams router;

    static constexpr auto fields() {
        using P = HypercubeTopology;
        return switchfold::list_of(
            switchfold::field("dimensions", &P::dimensions, "Neighbours of each router.", 1U, 12U)
                .required(),
            switchfold::field("lanes", &P::lanes, "Lanes between neighbours.", 1U, 1024U),
            switchfold::field("gpu_link", &P::gpu_link, "Each GPU's way to its router."),
            switchfold::field("link", &P::link, "The links between routers."),
            switchfold::field("router", &P::router, "The routers."));
    }
    void check(switchfold::ParamChecker& checker) const;
    [[nodiscard]] switchfold::Topology build() const;
};

}  // namespace consumer
