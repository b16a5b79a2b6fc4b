// SPDX-License-Identifier: Apache-2.0
#include "training/placement/task_schedule.h"

#include "training/placement/best_placement.h"
#include "training/placement/tests/random_graph.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace switchfold::task_schedule_test {
namespace {

/// A chain of layers that take 1 s forward and 1 s backward, each on its own GPU.
PlacementGraph chain(std::uint32_t layers, std::uint32_t chunks, std::uint32_t micro_batches) {
    PlacementGraph graph;
    graph.parts = graph.gpus = layers;
    graph.micro_batches = micro_batches;
    for (std::uint32_t i = 0; i < layers; ++i) {
        PlacementNode node;
        node.forward = node.input_gradient = 1;
        node.chunks = chunks;
        if (i > 0)
            node.inputs = {i - 1};
        graph.nodes.push_back(std::move(node));
    }
    return graph;
}

NodeParts apart(const PlacementGraph& graph) {
    NodeParts parts;
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
        parts.push_back(i % graph.parts);
    return parts;
}

double seconds(const PlacementGraph& graph, const NodeParts& parts) {
    return schedule_tasks(graph, PlacementTasks(graph), parts).seconds;
}

TEST(Wavefront, TwoLayersGainAllButOneStep) {
    // Speedup 2 T / (T + 1): the two layers overlap except in the first and the last time step.
    for (const std::uint32_t steps : {1U, 2U, 10U, 100U}) {
        const PlacementGraph graph = chain(2, steps, 1);
        const double alone = seconds(graph, {0, 0});
        const double wave = seconds(graph, apart(graph));
        EXPECT_NEAR(alone / wave, 2.0 * steps / (steps + 1), 1e-9) << steps;
        EXPECT_NEAR(step_bound(graph), wave, 1e-9) << steps;
    }
}

TEST(Pipeline, MicroBatchesFillIt) {
    // Efficiency m / (m + p - 1) on p GPUs. Six micro-batches through four stages are 2.67 times as
    // fast as one GPU.
    for (const std::uint32_t count : {1U, 2U, 6U, 20U}) {
        const PlacementGraph graph = chain(4, 1, count);
        const double alone = seconds(graph, {0, 0, 0, 0});
        EXPECT_NEAR(alone / seconds(graph, apart(graph)), 4.0 * count / (count + 3), 1e-9) << count;
    }
}

TEST(Pipeline, MessagesComeOnTop) {
    PlacementGraph graph = chain(2, 1, 1);
    graph.latency = 0.25;
    graph.bandwidth = 8;
    graph.nodes[0].output_bytes = 2;
    EXPECT_NEAR(seconds(graph, {0, 1}), 4 + 2 * (0.25 + 0.25), 1e-9);
    // With chunks, each message pays the latency, and its bytes overlap with the next chunk's work.
    graph.nodes[0].chunks = graph.nodes[1].chunks = 4;
    EXPECT_NEAR(seconds(graph, {0, 1}), 2 * (1.25 + 0.25 + 0.0625), 0.51);
}

TEST(Wavefront, BestPlacementTakesLayersApart) {
    const auto found = find_placement(chain(2, 10, 1), PlacementMethod::kBest);
    ASSERT_TRUE(found);
    EXPECT_NE(found->parts[0], found->parts[1]);
    EXPECT_NEAR(found->seconds, found->step_bound, 1e-9);
}

RC_GTEST_PROP(TaskSchedule, EveryTaskRunsOnceBehindWhatItNeeds, ()) {
    const PlacementGraph graph = test_data::random_placement_graph(10, 4);
    const PlacementTasks tasks(graph);
    NodeParts parts;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        parts.push_back(*rc::gen::inRange<std::uint32_t>(0, graph.parts));
    const TaskSchedule schedule = schedule_tasks(graph, tasks, parts);
    std::vector<bool> done(tasks.all().size(), false);
    std::vector<double> free(graph.parts, 0);
    for (const std::uint32_t at : schedule.order) {
        RC_ASSERT(!done[at]);
        const PlacementTask& task = tasks.all()[at];
        const std::uint32_t part = parts[task.node];
        RC_ASSERT(schedule.start[at] >= free[part]);
        free[part] = schedule.start[at] + task.seconds;
        for (const std::uint32_t need : task.needs) {
            RC_ASSERT(done[need]);
            RC_ASSERT(schedule.start[at] >= schedule.start[need] + tasks.all()[need].seconds);
        }
        done[at] = true;
    }
    RC_ASSERT(std::all_of(done.begin(), done.end(), [](bool one) { return one; }));
}

}  // namespace
}  // namespace switchfold::task_schedule_test
