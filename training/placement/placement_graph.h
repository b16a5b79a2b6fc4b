// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// A layer as seen by the division. Times are isolated seconds on a GPU.
struct PlacementNode {
    std::string name;
    double forward = 0;          ///< seconds per micro-batch
    double input_gradient = 0;   ///< seconds per micro-batch
    double weight_gradient = 0;  ///< seconds per micro-batch
    double update = 0;           ///< seconds per step
    double output_bytes = 0;     ///< per micro-batch
    double gradient_bytes = 0;   ///< of its weights, per step
    double memory = 0;           ///< bytes held on its GPU throughout the step
    /// Pieces in which its output is produced in sequence, and its gradient in reverse. Between
    /// neighbours with equal numbers, each piece depends on the corresponding piece only.
    std::uint32_t chunks = 1;
    std::vector<std::uint32_t> inputs;  ///< earlier nodes
};

/// A network to be divided.
struct PlacementGraph {
    std::vector<PlacementNode> nodes;  ///< in topological order
    std::uint32_t parts = 1;
    std::uint32_t gpus = 1;  ///< that share the parts evenly, adjacent parts on one GPU
    std::uint32_t micro_batches = 1;
    std::uint32_t replicas = 1;  ///< of the whole network, which reduce gradients of weights
    double bandwidth = 0;        ///< bytes per second that a GPU sends; it receives as many
    double latency = 0;          ///< seconds per message, without its bytes
    double memory = 0;           ///< bytes per GPU; 0: unlimited
    double last_chunk = 1;       ///< size of a node's last piece relative to the others

    /// A piece's share of its node.
    [[nodiscard]] double share(std::uint32_t chunks, std::uint32_t chunk) const {
        if (chunks == 1)
            return 1;
        return (chunk + 1 == chunks ? last_chunk : 1) / (chunks - 1 + last_chunk);
    }
    [[nodiscard]] std::uint32_t gpu_of(std::uint32_t part) const { return part / (parts / gpus); }
    /// Seconds of a node per step.
    [[nodiscard]] double work(std::uint32_t node) const {
        const PlacementNode& n = nodes[node];
        return micro_batches * (n.forward + n.input_gradient + n.weight_gradient) + n.update;
    }
    /// Seconds of a ring all-reduce of a node's gradients among replicas.
    [[nodiscard]] double travel(std::uint32_t node) const {
        const double share = 2.0 * (replicas - 1) / replicas;
        return bandwidth > 0 ? share * nodes[node].gradient_bytes / bandwidth : 0;
    }
    /// Seconds per step for which messages of `bytes` per micro-batch occupy a GPU's port in one
    /// direction.
    [[nodiscard]] double port(double bytes) const {
        return bandwidth > 0 ? micro_batches * bytes / bandwidth : 0;
    }
};

/// The part of each node.
using NodeParts = std::vector<std::uint32_t>;

/// Nodes that read each node, ascending.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> readers_of(const PlacementGraph& graph);

/// Load of a part per step. Activations are sent once to every other part that reads them, and
/// gradients of equal size return, so traffic in and out is equal.
struct PartLoad {
    double work = 0;    ///< seconds of kernels
    double bytes = 0;   ///< per micro-batch, in each direction
    double memory = 0;  ///< bytes
};
[[nodiscard]] std::vector<PartLoad> loads_of(const PlacementGraph& graph, const NodeParts& parts);

/// Seconds of the busiest part: the longer of its kernels and its messages. Infinite if a part does
/// not fit in memory.
[[nodiscard]] double busiest(const PlacementGraph& graph, const NodeParts& parts);

/// Lower bound (s) on the step of any division into `graph.parts` parts in any order: the maximum
/// of the longest chain of a micro-batch with its update, an equal share of all work, and the
/// heaviest layer.
[[nodiscard]] double step_bound(const PlacementGraph& graph);

}  // namespace switchfold
