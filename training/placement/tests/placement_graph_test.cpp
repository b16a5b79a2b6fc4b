// SPDX-License-Identifier: Apache-2.0
#include "training/placement/placement_graph.h"

#include <gtest/gtest.h>

#include <limits>

namespace switchfold::placement_graph_test {
namespace {

/// A graph in which two nodes read the output of a third.
PlacementGraph fork() {
    PlacementGraph graph;
    graph.parts = graph.gpus = 3;
    graph.micro_batches = 2;
    graph.bandwidth = 10;
    graph.nodes.resize(3);
    graph.nodes[0].forward = 1;
    graph.nodes[0].input_gradient = 2;
    graph.nodes[0].weight_gradient = 3;
    graph.nodes[0].update = 4;
    graph.nodes[0].output_bytes = 50;
    graph.nodes[1].inputs = {0, 0};
    graph.nodes[2].inputs = {0};
    return graph;
}

TEST(PlacementGraph, WorkIsOfAllMicroBatchesAndOneUpdate) {
    EXPECT_EQ(fork().work(0), 2 * (1 + 2 + 3) + 4);
}

TEST(PlacementGraph, OutputsGoOnceToEveryPartThatReadsThem) {
    const PlacementGraph graph = fork();
    const auto apart = loads_of(graph, {0, 1, 2});
    EXPECT_EQ(apart[0].bytes, 100);
    EXPECT_EQ(apart[1].bytes, 50);
    EXPECT_EQ(apart[2].bytes, 50);
    const auto together = loads_of(graph, {0, 1, 1});
    EXPECT_EQ(together[0].bytes, 50);
    EXPECT_EQ(together[1].bytes, 50);
    // 2 micro-batches of 100 bytes at 10 bytes per second.
    EXPECT_EQ(busiest(graph, {0, 1, 2}), 20);
    EXPECT_EQ(busiest(graph, {0, 0, 0}), 16);
}

TEST(PlacementGraph, PartsOfOneGpuSendNothing) {
    PlacementGraph graph = fork();
    graph.gpus = 1;
    EXPECT_EQ(loads_of(graph, {0, 1, 2})[0].bytes, 0);
}

TEST(PlacementGraph, WhatDoesNotFitIsNeverBusy) {
    PlacementGraph graph = fork();
    graph.memory = 1;
    graph.nodes[0].memory = 2;
    EXPECT_EQ(busiest(graph, {0, 1, 2}), std::numeric_limits<double>::infinity());
}

TEST(StepBound, IsTheLongestChain) {
    PlacementGraph graph = fork();
    // The chain is forward, both gradients and the update of node 0; the other two layers take no
    // time.
    EXPECT_EQ(step_bound(graph), 16);
    graph.micro_batches = 1;
    EXPECT_EQ(step_bound(graph), 1 + 2 + 3 + 4);
}

}  // namespace
}  // namespace switchfold::placement_graph_test
