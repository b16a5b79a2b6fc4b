// SPDX-License-Identifier: Apache-2.0
#include "training/placement/placement_graph.h"

#include <algorithm>
#include <limits>
#include <set>

namespace switchfold {

std::vector<std::vector<std::uint32_t>> readers_of(const PlacementGraph& graph) {
    std::vector<std::vector<std::uint32_t>> readers(graph.nodes.size());
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
        for (const std::uint32_t input :
             std::set<std::uint32_t>(graph.nodes[i].inputs.begin(), graph.nodes[i].inputs.end()))
            readers[input].push_back(i);
    return readers;
}

std::vector<PartLoad> loads_of(const PlacementGraph& graph, const NodeParts& parts) {
    std::vector<PartLoad> loads(graph.parts);
    const std::vector<std::vector<std::uint32_t>> readers = readers_of(graph);
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
        PartLoad& own = loads[parts[i]];
        own.work += graph.work(i);
        own.memory += graph.nodes[i].memory;
        std::set<std::uint32_t> elsewhere;
        for (const std::uint32_t reader : readers[i])
            if (graph.gpu_of(parts[reader]) != graph.gpu_of(parts[i]))
                elsewhere.insert(parts[reader]);
        for (const std::uint32_t part : elsewhere) {
            own.bytes += graph.nodes[i].output_bytes;
            loads[part].bytes += graph.nodes[i].output_bytes;
        }
    }
    return loads;
}

double busiest(const PlacementGraph& graph, const NodeParts& parts) {
    double longest = 0;
    for (const PartLoad& load : loads_of(graph, parts)) {
        if (graph.memory > 0 && load.memory > graph.memory)
            return std::numeric_limits<double>::infinity();
        longest = std::max({longest, load.work, graph.port(load.bytes)});
    }
    return longest;
}

namespace {

/// Time until a node's first and last piece are done, with unlimited parts and free messages.
struct Reach {
    double last = 0;
    double first = 0;
};

/// Times of a node's first and last piece. The node begins when the first piece of its input is
/// there, and ends one piece after the last.
struct Pieces {
    double all = 0;
    double first = 0;
    double last = 0;
};
Reach behind(const std::vector<Reach>& before, const Pieces& own) {
    Reach reach{own.all, own.first};
    for (const Reach& input : before) {
        reach.first = std::max(reach.first, input.first + own.first);
        reach.last = std::max({reach.last, input.first + own.all, input.last + own.last});
    }
    return reach;
}

/// The longest chain of a micro-batch, forward and backward.
double longest_chain(const PlacementGraph& graph) {
    const std::size_t n = graph.nodes.size();
    const auto whole = [](const Reach& reach) { return Reach{reach.last, reach.last}; };
    std::vector<Reach> forward(n);
    for (std::size_t i = 0; i < n; ++i) {
        const PlacementNode& node = graph.nodes[i];
        std::vector<Reach> before;
        for (const std::uint32_t input : node.inputs)
            before.push_back(
                graph.nodes[input].chunks == node.chunks ? forward[input] : whole(forward[input]));
        forward[i] = behind(
            before, {node.forward, node.forward * graph.share(node.chunks, 0),
                     node.forward * graph.share(node.chunks, node.chunks - 1)});
    }
    const std::vector<std::vector<std::uint32_t>> readers = readers_of(graph);
    std::vector<Reach> back(n);
    double longest = 0;
    for (std::size_t i = n; i-- > 0;) {
        const PlacementNode& node = graph.nodes[i];
        std::vector<Reach> before{whole(forward[i])};
        for (const std::uint32_t reader : readers[i])
            before.push_back(
                graph.nodes[reader].chunks == node.chunks ? back[reader] : whole(back[reader]));
        back[i] = behind(
            before,
            {node.input_gradient, node.input_gradient * graph.share(node.chunks, node.chunks - 1),
             node.input_gradient * graph.share(node.chunks, 0)});
        longest = std::max(longest, back[i].last + node.weight_gradient);
    }
    return longest;
}

}  // namespace

double step_bound(const PlacementGraph& graph) {
    double all = 0;
    double heaviest = 0;
    double updates = 0;
    double largest_update = 0;
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
        all += graph.work(i);
        heaviest = std::max(heaviest, graph.work(i));
        updates += graph.nodes[i].update;
        largest_update = std::max(largest_update, graph.nodes[i].update);
    }
    // Updates begin once all gradients are available.
    const double chain = longest_chain(graph) + std::max(updates / graph.parts, largest_update);
    return std::max({chain, all / graph.parts, heaviest});
}

}  // namespace switchfold
