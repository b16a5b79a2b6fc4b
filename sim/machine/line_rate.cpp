// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/line_rate.h"

namespace switchfold {

Bandwidth line_rate_of_gpu(const SystemParams& system) {
    const Topology topology = build_topology(system.topology);
    Bandwidth sum(0);
    for (const TopologyEdge& edge : topology.edges)
        if ((edge.a == 0 || edge.b == 0) && !edge.down)
            sum += topology.links[edge.link_class].lane_bandwidth * edge.lanes;
    return sum;
}

}  // namespace switchfold
