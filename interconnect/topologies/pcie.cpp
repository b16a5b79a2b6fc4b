// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topologies/pcie.h"

#include "interconnect/topologies/build.h"

namespace switchfold {

void PcieTopology::check(ParamChecker& checker) const {
    PcieTree::check(checker);
    if (!peer_to_peer && !memory_link)
        checker.error("/memory_link", "is missing; expected it with peer_to_peer false");
    if (!bridges.empty() && !bridge_link)
        checker.error("/bridge_link", "is missing; expected it with bridges");
    check_edges(bridges, gpus, "/bridges", checker);
    if (checker.found().empty())
        check_ports(build(), checker, {"/root", "/switch", "/memory"});
}

Topology PcieTopology::build() const {
    Topology topology;
    add_gpus(topology, gpus);
    add_to(topology);
    topology.through_memory = !peer_to_peer;
    if (!bridges.empty()) {
        const std::uint32_t wire = add_link_class(topology, *bridge_link);
        for (const DirectEdge& edge : bridges)
            join(topology, edge.a, edge.b, edge.lanes, wire);
    }
    return topology;
}

}  // namespace switchfold
