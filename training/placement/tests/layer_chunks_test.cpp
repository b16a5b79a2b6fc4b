// SPDX-License-Identifier: Apache-2.0
#include "training/placement/layer_chunks.h"

#include "training/network/builder.h"
#include "training/network/zoo/zoo.h"
#include "training/placement/placement_work.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace switchfold::layer_chunks_test {
namespace {

Network compound() {
    return find_network("compound_lstm_ae_attention").value();
}

std::set<std::string> layers_by_steps(const Network& network, const LayerChunks& chunks) {
    std::set<std::string> names;
    for (std::uint32_t i = 0; i < network.layers.size(); ++i)
        if (chunks.by_steps(i))
            names.insert(network.layers[i].name);
    return names;
}

TEST(LayerChunks, AreOfLstmsAndWhatFollowsTokenByToken) {
    const Network network = compound();
    const LayerChunks chunks(network, 30);
    EXPECT_EQ(
        layers_by_steps(network, chunks),
        (std::set<std::string>{"attention.qkv", "lstm.0", "lstm.1"}));
    EXPECT_EQ(chunks.count(), 4);
    EXPECT_EQ(chunks.steps(0), 30);
    EXPECT_EQ(chunks.steps(3), 10);
    EXPECT_EQ(LayerChunks(network, 0).count(), 1);
    EXPECT_EQ(LayerChunks(network, 0).steps(0), 100);
}

TEST(LayerChunks, ImagesHaveNone) {
    const Network network = find_network("vgg16").value();
    EXPECT_TRUE(layers_by_steps(network, LayerChunks(network, 0)).empty());
}

class Works {
public:
    Works(Network network, const PlacementChoice& choice, std::uint32_t micro_batch = 16) :
        network_(std::move(network)),
        times_(test_data::ampere()),
        plan_(made(micro_batch)),
        work_(network_, times_, plan_, choice) {}
    [[nodiscard]] const PlacementWork& operator*() const { return work_; }
    [[nodiscard]] std::uint32_t layer(const std::string& name) const {
        const auto found =
            std::find_if(network_.layers.begin(), network_.layers.end(), [&](const Layer& layer) {
                return layer.name == name;
            });
        return static_cast<std::uint32_t>(found - network_.layers.begin());
    }
    [[nodiscard]] double undivided(TaskKind kind, std::uint32_t layer) const {
        Work work;
        const LayerWork whole(network_, times_, plan_);
        if (kind == TaskKind::kForward)
            whole.forward(layer, work);
        else
            whole.input_gradient(layer, work);
        double seconds = 0;
        for (const WorkItem& item : work)
            if (const auto* kernel = std::get_if<KernelItem>(&item))
                seconds += to_seconds(kernel->kernel.isolated);
        return seconds;
    }

private:
    static ParallelPlan made(std::uint32_t micro_batch) {
        ParallelPlan plan;
        plan.micro_batch = micro_batch;
        return plan;
    }
    Network network_;
    KernelTimes times_;
    ParallelPlan plan_;
    PlacementWork work_;
};

TEST(LstmSteps, AreAKernelEach) {
    PlacementChoice choice;
    choice.chunk_steps = 30;
    const Works works(compound(), choice);
    const std::uint32_t lstm = works.layer("lstm.1");
    const auto count = [&](TaskKind kind, std::uint32_t chunk) {
        return (*works).work(kind, lstm, chunk).size();
    };
    EXPECT_EQ(count(TaskKind::kForward, 0), 30);
    EXPECT_EQ(count(TaskKind::kForward, 3), 10);
    EXPECT_EQ(count(TaskKind::kInputGradient, 2), 30);
    // One product over all time steps, and the marker that the gradients are available.
    EXPECT_EQ(count(TaskKind::kWeightGradient, 0), 2);
}

TEST(LstmSteps, FromMemoryTakeWhatTheLayerTakes) {
    PlacementChoice choice;
    choice.lstm_weights = LstmWeights::kMemory;
    const Works works(compound(), choice);
    for (const char* name : {"lstm.0", "lstm.1"})
        for (const TaskKind kind : {TaskKind::kForward, TaskKind::kInputGradient}) {
            const std::uint32_t lstm = works.layer(name);
            EXPECT_NEAR((*works).seconds(kind, lstm), works.undivided(kind, lstm), 1e-9) << name;
        }
}

TEST(LstmSteps, FromTheL2AreFasterAsLongAsTheyFit) {
    const auto step = [](std::uint64_t hidden, LstmWeights where) {
        NetworkBuilder net("one", 20);
        net.lstm("lstm", {Tensor{{20, hidden}}}, hidden);
        PlacementChoice choice;
        choice.lstm_weights = where;
        const Works works(net.take(), choice, 4);
        const Work& work = (*works).work(TaskKind::kForward, 0, 0);
        return to_seconds(std::get<KernelItem>(work[5]).kernel.isolated);
    };
    // Weights of 17 MB fit in an A100's L2 of 40 MiB; 1 GB does not.
    EXPECT_LT(step(1024, LstmWeights::kL2), 0.95 * step(1024, LstmWeights::kMemory));
    EXPECT_EQ(step(8192, LstmWeights::kL2), step(8192, LstmWeights::kMemory));
}

TEST(LstmSteps, FirstOfAChunkReadsFromMemory) {
    const Works works(compound(), PlacementChoice());
    const Work& work = (*works).work(TaskKind::kForward, works.layer("lstm.1"), 0);
    const auto isolated = [&](std::size_t i) {
        return std::get<KernelItem>(work[i]).kernel.isolated;
    };
    EXPECT_GT(isolated(0), isolated(1));
    EXPECT_EQ(isolated(1), isolated(99));
}

}  // namespace
}  // namespace switchfold::layer_chunks_test
