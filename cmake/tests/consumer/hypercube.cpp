// SPDX-License-Identifier: Apache-2.0
#include "hypercube.h"

#include "interconnect/topologies/build.h"

#include <string>

namespace consumer {

void HypercubeTopology::check(switchfold::ParamChecker& checker) const {
    if (checker.found().empty())
        switchfold::check_ports(build(), checker, {"/router"});
}

switchfold::Topology HypercubeTopology::build() const {
    switchfold::Topology topology;
    const std::uint32_t gpus = 1U << dimensions;
    switchfold::add_gpus(topology, gpus);
    const std::uint32_t to_router = switchfold::add_link_class(topology, gpu_link);
    const std::uint32_t between = switchfold::add_link_class(topology, link);
    const std::uint32_t kind = switchfold::add_switch_class(topology, router);
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
        const std::string name = "router" + std::to_string(gpu);
        const std::uint32_t node =
            switchfold::add_node(topology, switchfold::NodeKind::kSwitch, name, kind, 0);
        switchfold::join(topology, gpu, node, 1, to_router);
    }
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
        for (std::uint32_t bit = 0; bit < dimensions; ++bit)
            if (const std::uint32_t other = gpu ^ (1U << bit); gpu < other)
                switchfold::join(topology, gpus + gpu, gpus + other, lanes, between);
    return topology;
}

}  // namespace consumer
