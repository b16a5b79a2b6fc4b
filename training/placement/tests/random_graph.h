// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/placement/placement_graph.h"

#include <rapidcheck.h>

#include <cstdint>

namespace switchfold::test_data {

/// A graph of up to `most_nodes` nodes with random edges. Times and sizes are such that messages
/// matter.
inline PlacementGraph random_placement_graph(std::uint32_t most_nodes, std::uint32_t most_parts) {
    PlacementGraph graph;
    const auto nodes = *rc::gen::inRange<std::uint32_t>(1, most_nodes + 1);
    graph.parts = *rc::gen::inRange<std::uint32_t>(1, most_parts + 1);
    graph.gpus = *rc::gen::arbitrary<bool>() ? graph.parts : 1;
    graph.micro_batches = *rc::gen::inRange<std::uint32_t>(1, 4);
    graph.bandwidth = graph.gpus > 1 ? 1 : 0;
    graph.latency = graph.gpus > 1 ? *rc::gen::inRange(0, 4) * 0.25 : 0;
    const auto chunks = *rc::gen::inRange<std::uint32_t>(1, 5);
    graph.last_chunk = *rc::gen::inRange(1, 5) * 0.25;
    for (std::uint32_t i = 0; i < nodes; ++i) {
        PlacementNode node;
        node.forward = *rc::gen::inRange(0, 20);
        node.input_gradient = *rc::gen::inRange(0, 20);
        node.weight_gradient = *rc::gen::inRange(0, 20);
        node.update = *rc::gen::inRange(0, 20);
        node.output_bytes = *rc::gen::inRange(0, 30);
        node.memory = *rc::gen::inRange(0, 20);
        node.chunks = *rc::gen::arbitrary<bool>() ? chunks : 1;
        for (std::uint32_t j = 0; j < i; ++j)
            if (*rc::gen::inRange(0, 3) == 0)
                node.inputs.push_back(j);
        graph.nodes.push_back(std::move(node));
    }
    return graph;
}

}  // namespace switchfold::test_data
