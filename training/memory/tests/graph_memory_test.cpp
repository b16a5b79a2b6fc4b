// SPDX-License-Identifier: Apache-2.0
#include "training/memory/accounting/graph_memory.h"

#include "workloads/graph/collective.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <variant>

namespace switchfold::graph_memory_test {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

std::uint64_t buffers(CollectiveKind kind, bool in_place) {
    const ExecutionGraph graph = single_collective(kind, mebibytes(8), Datatype::kFloat32, 4);
    return collective_buffers(
               graph, std::get<CollectiveOperation>(graph.ranks[0]->operations[0].body), in_place) /
           kMiB;
}

TEST(GraphMemory, BuffersAreWhatIsSentAndReceived) {
    EXPECT_EQ(buffers(CollectiveKind::kAllReduce, false), 16U);
    EXPECT_EQ(buffers(CollectiveKind::kAllReduce, true), 8U);
    EXPECT_EQ(buffers(CollectiveKind::kAllGather, false), 10U);
    EXPECT_EQ(buffers(CollectiveKind::kAllGather, true), 8U);
    EXPECT_EQ(buffers(CollectiveKind::kReduceScatter, false), 10U);
    EXPECT_EQ(buffers(CollectiveKind::kBroadcast, false), 16U);
    EXPECT_EQ(buffers(CollectiveKind::kAllToAll, true), 16U) << "no all-to-all works in place";
}

/// A rank's step, operation by operation.
class Made {
public:
    Made() {
        graph_.groups = {{"data", {0, 1}}, {"tensor", {0, 1}}};
        graph_.names = {"operation"};
    }
    Made& reduce(Phase phase, std::uint64_t mib, std::uint32_t group = 0) {
        CollectiveOperation c;
        c.bytes = mebibytes(mib);
        c.group = group;
        return add(phase, c);
    }
    Made& kernel(Phase phase, std::uint64_t mib = 0, ByteSource source = ByteSource::kShapes) {
        KernelOperation k;
        k.bytes_read = mebibytes(mib);
        k.byte_source = source;
        return add(phase, k);
    }
    Made& add(Phase phase, OperationBody body) {
        Operation operation;
        operation.phase = phase;
        operation.step = step_;
        operation.body = std::move(body);
        rank_.operations.push_back(std::move(operation));
        return *this;
    }
    Made& next_step() {
        ++step_;
        return *this;
    }
    [[nodiscard]] std::uint64_t least() const { return least_memory(graph_, rank_).bytes / kMiB; }

private:
    ExecutionGraph graph_;
    RankGraph rank_;
    std::uint32_t step_ = 0;
};

TEST(GraphMemory, GradientsOfAStepAreThereTogether) {
    Made made;
    made.reduce(Phase::kBackward, 1).reduce(Phase::kBackward, 25).reduce(Phase::kBackward, 7);
    EXPECT_EQ(made.least(), 25U) << "no optimizer reads them";
    made.kernel(Phase::kOptimizer);
    EXPECT_EQ(made.least(), 33U);
    made.next_step();
    made.reduce(Phase::kBackward, 1).reduce(Phase::kBackward, 25).reduce(Phase::kBackward, 7);
    made.kernel(Phase::kOptimizer);
    EXPECT_EQ(made.least(), 33U) << "each step for itself";
}

TEST(GraphMemory, MicroBatchesReduceTheSameGradients) {
    Made made;
    for (int micro_batch = 0; micro_batch < 4; ++micro_batch)
        made.reduce(Phase::kBackward, 1).reduce(Phase::kBackward, 25);
    made.kernel(Phase::kOptimizer);
    EXPECT_EQ(made.least(), 26U);
}

TEST(GraphMemory, ActivationsThatTravelAreNoGradients) {
    Made made;
    made.reduce(Phase::kForward, 4, 1);
    made.reduce(Phase::kBackward, 4, 1).reduce(Phase::kBackward, 5, 1);
    made.reduce(Phase::kBackward, 2).reduce(Phase::kBackward, 6).kernel(Phase::kOptimizer);
    EXPECT_EQ(made.least(), 8U);
}

TEST(GraphMemory, OperandsCountWhereShapesTellThem) {
    Made made;
    made.reduce(Phase::kForward, 4).kernel(Phase::kForward, 100, ByteSource::kClassDefault);
    EXPECT_EQ(made.least(), 4U);
    made.kernel(Phase::kForward, 100);
    EXPECT_EQ(made.least(), 100U);
    made.add(Phase::kForward, CopyOperation{CopyKind::kHostToDevice, mebibytes(200), Time()});
    EXPECT_EQ(made.least(), 200U);
    made.add(Phase::kForward, ReceiveOperation{1, mebibytes(300), 0});
    EXPECT_EQ(made.least(), 300U);
}

}  // namespace
}  // namespace switchfold::graph_memory_test
