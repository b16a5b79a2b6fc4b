// SPDX-License-Identifier: Apache-2.0
#include "training/placement/list_placement.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace switchfold {

namespace {

class ListPlacement {
public:
    explicit ListPlacement(const PlacementGraph& graph) :
        graph_(graph),
        parts_(graph.nodes.size(), 0),
        first_(graph.nodes.size(), 0),
        last_(graph.nodes.size(), 0),
        free_(graph.parts, 0),
        memory_(graph.parts, 0) {}

    std::optional<NodeParts> run() {
        for (const std::uint32_t node : by_way_to_end()) {
            constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
            std::uint32_t best = kNone;
            double best_end = 0;
            for (std::uint32_t part = 0; part < graph_.parts; ++part) {
                if (graph_.memory > 0 && memory_[part] + graph_.nodes[node].memory > graph_.memory)
                    continue;
                const double end = end_on(node, part);
                if (best == kNone || end < best_end) {
                    best = part;
                    best_end = end;
                }
            }
            if (best == kNone)
                return {};
            put(node, best);
        }
        return std::move(parts_);
    }

private:
    /// Nodes by decreasing path length to the end, which is a topological order.
    [[nodiscard]] std::vector<std::uint32_t> by_way_to_end() const {
        const std::size_t n = graph_.nodes.size();
        std::vector<double> way(n, 0);
        for (std::size_t i = n; i-- > 0;) {
            way[i] += graph_.work(static_cast<std::uint32_t>(i));
            for (const std::uint32_t input : graph_.nodes[i].inputs)
                way[input] = std::max(way[input], way[i] + message(input));
        }
        std::vector<std::uint32_t> order(n);
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return way[a] > way[b];
        });
        return order;
    }

    /// Time of an output's messages and of the gradients that return.
    [[nodiscard]] double message(std::uint32_t node) const {
        return 2 * (graph_.latency * graph_.micro_batches +
                    graph_.port(graph_.nodes[node].output_bytes));
    }

    /// Arrival of the first and last inputs: pieces if the input has equally many, otherwise the
    /// whole input.
    struct Inputs {
        double first = 0;
        double last = 0;
    };
    [[nodiscard]] Inputs inputs(std::uint32_t node, std::uint32_t part) const {
        Inputs there;
        for (const std::uint32_t input : graph_.nodes[node].inputs) {
            const bool alike = graph_.nodes[input].chunks == graph_.nodes[node].chunks;
            const double way =
                graph_.gpu_of(parts_[input]) == graph_.gpu_of(part) ? 0 : message(input);
            const std::uint32_t pieces = alike ? graph_.nodes[input].chunks : 1;
            there.first =
                std::max(there.first, (alike ? first_[input] : last_[input]) + way / pieces);
            there.last = std::max(there.last, last_[input] + way / pieces);
        }
        return there;
    }
    [[nodiscard]] double end_on(std::uint32_t node, std::uint32_t part) const {
        const Inputs there = inputs(node, part);
        const double work = graph_.work(node);
        return std::max(
            std::max(free_[part], there.first) + work,
            there.last + work / graph_.nodes[node].chunks);
    }
    void put(std::uint32_t node, std::uint32_t part) {
        const double begin = std::max(free_[part], inputs(node, part).first);
        last_[node] = end_on(node, part);
        first_[node] = begin + graph_.work(node) / graph_.nodes[node].chunks;
        free_[part] = begin + graph_.work(node);
        memory_[part] += graph_.nodes[node].memory;
        parts_[node] = part;
    }

    const PlacementGraph& graph_;
    NodeParts parts_;
    std::vector<double> first_;  ///< by node: end of its first piece
    std::vector<double> last_;
    std::vector<double> free_;  ///< by part: end of its work, excluding waits between pieces
    std::vector<double> memory_;
};

}  // namespace

std::optional<NodeParts> list_placement(const PlacementGraph& graph) {
    return ListPlacement(graph).run();
}

}  // namespace switchfold
