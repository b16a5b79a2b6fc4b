// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/cut/cut_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// What a node does of a micro-batch.
enum class TaskKind : std::uint8_t { kForward, kInputGradient, kWeightGradient };

struct CutTask {
    TaskKind kind = TaskKind::kForward;
    std::uint32_t node = 0;
    std::uint32_t micro_batch = 0;
    std::uint32_t chunk = 0;  ///< of a forward or an input gradient
    double seconds = 0;
    /// Tasks that it waits for, on its part and on others. What comes from another GPU comes as a
    /// message.
    std::vector<std::uint32_t> needs;
};

/// A step's tasks, each behind those that it needs: all forwards and input gradients in as many
/// pieces as the node has, one weight gradient over all of them.
class CutTasks {
public:
    explicit CutTasks(const CutGraph& graph);

    [[nodiscard]] const std::vector<CutTask>& all() const { return tasks_; }
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
    /// Whether pieces of the two go with each other one by one.
    [[nodiscard]] bool alike(std::uint32_t a, std::uint32_t b) const {
        return graph_.nodes[a].chunks == graph_.nodes[b].chunks;
    }

private:
    struct First {
        std::uint32_t forward = 0;
        std::uint32_t back = 0;
        std::uint32_t weights = 0;
    };
    std::uint32_t add(CutTask task);
    void add_forwards(std::uint32_t micro_batch);
    void add_gradients(
        std::uint32_t micro_batch, const std::vector<std::vector<std::uint32_t>>& readers);

    const CutGraph& graph_;
    std::vector<CutTask> tasks_;
    std::vector<std::vector<First>> first_;  ///< by micro-batch and node
};

}  // namespace switchfold
