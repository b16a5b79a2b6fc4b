// SPDX-License-Identifier: Apache-2.0
#include "training/placement/placement_memory.h"
#include "training/placement/placement_writer.h"

#include <memory>
#include <utility>

namespace switchfold {

ExecutionGraph cut_step(const PlannedPlacement& cut) {
    const RankMap map(cut.plan());
    const std::vector<PlacementMessage> messages = cut_messages(cut);
    const std::vector<double> kept =
        kept_by_layer(cut.network(), cut.work().layers(), cut.plan(), cut.found().parts);
    const std::vector<MemoryBytes> held =
        held_all_along(cut.graph(), cut.work().layers(), cut.plan(), cut.found().parts);
    const PlacementStepParts parts{cut, map, messages, kept};
    Communicators groups;
    NameTable names;
    ExecutionGraph graph;
    for (std::uint32_t rank = 0; rank < map.ranks(); ++rank) {
        RankGraph written = PlacementWriter(parts, rank, groups, names).write();
        written.held = held[map.place(rank).device];
        graph.ranks.push_back(std::make_shared<const RankGraph>(std::move(written)));
    }
    graph.groups = groups.take();
    graph.names = names.take();
    graph.provenance.source = cut.network().name;
    graph.provenance.synthetic = true;
    graph.provenance.world_size = map.ranks();
    const ParallelPlan& plan = cut.plan();
    graph.training.samples = static_cast<double>(plan.micro_batch) * plan.accumulate * plan.data;
    // Backward takes twice the FLOPs of forward.
    graph.training.flops =
        3 * 2 * static_cast<double>(forward_macs(cut.network())) * graph.training.samples;
    return graph;
}

}  // namespace switchfold
