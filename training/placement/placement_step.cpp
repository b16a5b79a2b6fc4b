// SPDX-License-Identifier: Apache-2.0
#include "training/placement/placement_memory.h"
#include "training/placement/placement_writer.h"

#include <memory>
#include <utility>

namespace switchfold {

namespace {

/// Replicas of a division from one on, as many as the plan says.
ExecutionGraph step_of(const PlacedStep& cut, const ParallelPlan& plan, std::uint32_t replica) {
    const RankMap map(plan);
    const std::vector<PlacementMessage> messages = placement_messages(cut);
    const std::vector<double> kept =
        kept_by_layer(cut.network(), cut.work().layers(), plan, cut.found().parts);
    const std::vector<MemoryBytes> held =
        held_all_along(cut.graph(), cut.work().layers(), plan, cut.found().parts);
    const std::vector<RepeatedLayers> repeated =
        repeated_layers(cut.network(), cut.work().layers(), plan, cut.found().parts);
    const PlacementStepParts parts{cut, map, messages, kept, repeated, replica};
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
    graph.training.samples = static_cast<double>(plan.micro_batch) * plan.accumulate * plan.data;
    // Backward takes twice the FLOPs of forward.
    graph.training.flops =
        3 * 2 * static_cast<double>(forward_macs(cut.network())) * graph.training.samples;
    return graph;
}

}  // namespace

ExecutionGraph placed_step_graph(const PlacedStep& cut) {
    return step_of(cut, cut.plan(), 0);
}

ReplicaApart placed_step_apart(const PlacedStep& cut, std::uint32_t replica) {
    ParallelPlan plan = cut.plan();
    plan.data = 1;
    ReplicaApart apart;
    apart.step = step_of(cut, plan, replica);
    const RankMap map(plan);
    const RankMap all(cut.plan());
    const LayerWork& layers = cut.work().layers();
    for (std::uint32_t rank = 0; rank < map.ranks(); ++rank) {
        RankPlace place = map.place(rank);
        double parameters = 0;
        for (std::uint32_t i = 0; i < cut.graph().nodes.size(); ++i)
            if (cut.graph().gpu_of(cut.found().parts[i]) == place.device)
                parameters += layers.parameters(i);
        place.data = replica;
        apart.by_rank.push_back({parameters, &cut.times(cut.kind(all.rank(place)))});
    }
    return apart;
}

}  // namespace switchfold
