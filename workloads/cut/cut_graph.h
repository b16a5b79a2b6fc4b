// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// A layer as its division sees it. Seconds are alone on a GPU.
struct CutNode {
    std::string name;
    double forward = 0;          ///< seconds, a micro-batch
    double input_gradient = 0;   ///< seconds, a micro-batch
    double weight_gradient = 0;  ///< seconds, a micro-batch
    double update = 0;           ///< seconds, a step
    double output_bytes = 0;     ///< a micro-batch
    double gradient_bytes = 0;   ///< of its weights, a step
    double memory = 0;           ///< bytes that its GPU needs for it all step long
    /// Pieces in which its output comes, one after the other, and its gradient from the last to the
    /// first. Of two neighbours with as many, each piece needs that piece alone of the other.
    std::uint32_t chunks = 1;
    std::vector<std::uint32_t> inputs;  ///< nodes before this one
};

/// A network to be divided.
struct CutGraph {
    std::vector<CutNode> nodes;  ///< every node behind its inputs
    std::uint32_t parts = 1;
    std::uint32_t gpus = 1;  ///< that share the parts evenly, neighbours one
    std::uint32_t micro_batches = 1;
    std::uint32_t replicas = 1;  ///< of the whole: gradients of weights travel to them
    double bandwidth = 0;        ///< bytes a second that a GPU sends, and as many that it receives
    double latency = 0;          ///< seconds of a message beside its bytes
    double memory = 0;           ///< bytes of a GPU; 0: without limit
    double last_chunk = 1;       ///< of a node's last piece over each of the others

    /// What a piece of a node is of the whole.
    [[nodiscard]] double share(std::uint32_t chunks, std::uint32_t chunk) const {
        if (chunks == 1)
            return 1;
        return (chunk + 1 == chunks ? last_chunk : 1) / (chunks - 1 + last_chunk);
    }
    [[nodiscard]] std::uint32_t gpu_of(std::uint32_t part) const { return part / (parts / gpus); }
    /// A step's seconds of a node.
    [[nodiscard]] double work(std::uint32_t node) const {
        const CutNode& n = nodes[node];
        return micro_batches * (n.forward + n.input_gradient + n.weight_gradient) + n.update;
    }
    /// Seconds that a node's gradients travel among replicas, round a ring.
    [[nodiscard]] double travel(std::uint32_t node) const {
        const double share = 2.0 * (replicas - 1) / replicas;
        return bandwidth > 0 ? share * nodes[node].gradient_bytes / bandwidth : 0;
    }
    /// Seconds that a step's micro-batches of so many bytes keep a GPU's way in or out busy.
    [[nodiscard]] double port(double bytes) const {
        return bandwidth > 0 ? micro_batches * bytes / bandwidth : 0;
    }
};

/// The part of each node.
using NodeParts = std::vector<std::uint32_t>;

/// Layers that read each node, ascending.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> readers_of(const CutGraph& graph);

/// What a step keeps a part busy with. Activations go once to every other part that reads them, and
/// as many gradients come back; what comes in and what goes out are as much.
struct PartLoad {
    double work = 0;    ///< seconds of kernels
    double bytes = 0;   ///< a micro-batch, each way
    double memory = 0;  ///< bytes
};
[[nodiscard]] std::vector<PartLoad> loads_of(const CutGraph& graph, const NodeParts& parts);

/// Seconds of the busiest part: its kernels or its messages, whichever take longer. Infinite if one
/// does not fit in memory.
[[nodiscard]] double busiest(const CutGraph& graph, const NodeParts& parts);

/// Seconds that no division of the graph into so many parts can be faster than, whatever goes
/// where and however well it is ordered: the longest chain of a micro-batch and its update, or an
/// equal share of all work, or the heaviest layer.
[[nodiscard]] double step_bound(const CutGraph& graph);

}  // namespace switchfold
