// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/placement/placement_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Work of a node for a micro-batch.
enum class TaskKind : std::uint8_t { kForward, kInputGradient, kWeightGradient };

struct PlacementTask {
    TaskKind kind = TaskKind::kForward;
    std::uint32_t node = 0;
    std::uint32_t micro_batch = 0;
    std::uint32_t chunk = 0;  ///< index of the piece, for a forward or input gradient
    double seconds = 0;
    /// Tasks that it waits for, on any part. Data from another GPU arrives as a message.
    std::vector<std::uint32_t> needs;
};

/// A step's tasks in topological order: forwards and input gradients once per piece of the node,
/// one weight gradient over all pieces.
class PlacementTasks {
public:
    explicit PlacementTasks(const PlacementGraph& graph);

    [[nodiscard]] const std::vector<PlacementTask>& all() const { return tasks_; }
    [[nodiscard]] std::uint32_t
    forward(std::uint32_t node, std::uint32_t mb, std::uint32_t c) const {
        return first_[mb][node].forward + c;
    }
    [[nodiscard]] std::uint32_t back(std::uint32_t node, std::uint32_t mb, std::uint32_t c) const {
        return first_[mb][node].back + graph_.nodes[node].chunks - 1 - c;
    }
    [[nodiscard]] std::uint32_t weights(std::uint32_t node, std::uint32_t mb) const {
        return first_[mb][node].weights;
    }
    /// Whether pieces of the two nodes correspond one to one.
    [[nodiscard]] bool alike(std::uint32_t a, std::uint32_t b) const {
        return graph_.nodes[a].chunks == graph_.nodes[b].chunks;
    }

private:
    struct First {
        std::uint32_t forward = 0;
        std::uint32_t back = 0;
        std::uint32_t weights = 0;
    };
    std::uint32_t add(PlacementTask task);
    void add_forwards(std::uint32_t micro_batch);
    void add_gradients(
        std::uint32_t micro_batch, const std::vector<std::vector<std::uint32_t>>& readers);

    const PlacementGraph& graph_;
    std::vector<PlacementTask> tasks_;
    std::vector<std::vector<First>> first_;  ///< by micro-batch and node
};

}  // namespace switchfold
