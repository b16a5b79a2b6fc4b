// SPDX-License-Identifier: Apache-2.0
#include "training/placement/placement_tasks.h"

#include <algorithm>
#include <utility>

namespace switchfold {

PlacementTasks::PlacementTasks(const PlacementGraph& graph) :
    graph_(graph), first_(graph.micro_batches, std::vector<First>(graph.nodes.size())) {
    const std::vector<std::vector<std::uint32_t>> readers = readers_of(graph);
    for (std::uint32_t mb = 0; mb < graph.micro_batches; ++mb)
        add_forwards(mb);
    for (std::uint32_t mb = 0; mb < graph.micro_batches; ++mb)
        add_gradients(mb, readers);
}

std::uint32_t PlacementTasks::add(PlacementTask task) {
    std::sort(task.needs.begin(), task.needs.end());
    task.needs.erase(std::unique(task.needs.begin(), task.needs.end()), task.needs.end());
    tasks_.push_back(std::move(task));
    return static_cast<std::uint32_t>(tasks_.size() - 1);
}

void PlacementTasks::add_forwards(std::uint32_t mb) {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
        const PlacementNode& node = graph_.nodes[i];
        for (std::uint32_t c = 0; c < node.chunks; ++c) {
            PlacementTask task{
                TaskKind::kForward, i, mb, c, node.forward * graph_.share(node.chunks, c), {}};
            if (c > 0)
                task.needs.push_back(forward(i, mb, c - 1));
            for (const std::uint32_t input : node.inputs)
                task.needs.push_back(
                    forward(input, mb, alike(input, i) ? c : graph_.nodes[input].chunks - 1));
            const std::uint32_t index = add(std::move(task));
            if (c == 0)
                first_[mb][i].forward = index;
        }
    }
}

void PlacementTasks::add_gradients(
    std::uint32_t mb, const std::vector<std::vector<std::uint32_t>>& readers) {
    for (auto i = static_cast<std::uint32_t>(graph_.nodes.size()); i-- > 0;) {
        const PlacementNode& node = graph_.nodes[i];
        for (std::uint32_t c = node.chunks; c-- > 0;) {
            PlacementTask task{TaskKind::kInputGradient,
                               i,
                               mb,
                               c,
                               node.input_gradient * graph_.share(node.chunks, c),
                               {}};
            if (c + 1 < node.chunks)
                task.needs.push_back(back(i, mb, c + 1));
            else
                task.needs.push_back(forward(i, mb, c));
            for (const std::uint32_t reader : readers[i])
                task.needs.push_back(back(reader, mb, alike(reader, i) ? c : 0));
            const std::uint32_t index = add(std::move(task));
            if (c + 1 == node.chunks)
                first_[mb][i].back = index;
        }
        first_[mb][i].weights =
            add({TaskKind::kWeightGradient, i, mb, 0, node.weight_gradient, {back(i, mb, 0)}});
    }
}

}  // namespace switchfold
