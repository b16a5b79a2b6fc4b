// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"
#include "training/placement/layer_chunks.h"
#include "training/placement/placement_choice.h"
#include "training/placement/placement_graph.h"
#include "training/placement/placement_tasks.h"
#include "training/plan/step/layer_work.h"
#include "training/plan/step/parallel_plan.h"
#include "workloads/kernels/kernel_times.h"

#include <array>
#include <cstdint>
#include <vector>

namespace switchfold {

/// Kernels of each layer's tasks for one micro-batch. Each time step of an LSTM is one kernel: a
/// product with the four gates fused into its epilogue. Its weight gradient is one product over all
/// steps. The first step of a piece reads the weights from memory, the others from where the choice
/// says. The arguments must outlive this object.
class PlacementWork {
public:
    PlacementWork(
        const Network& network, const KernelTimes& times, const ParallelPlan& plan,
        const PlacementChoice& choice);
    PlacementWork(const PlacementWork&) = delete;
    PlacementWork& operator=(const PlacementWork&) = delete;

    [[nodiscard]] const LayerChunks& chunks() const { return chunks_; }
    [[nodiscard]] const LayerWork& layers() const { return whole_; }
    [[nodiscard]] const Work& work(TaskKind kind, std::uint32_t layer, std::uint32_t chunk) const;
    /// Sum of the kernel times, over all pieces.
    [[nodiscard]] double seconds(TaskKind kind, std::uint32_t layer) const;

private:
    void lstm_steps(std::uint32_t layer, TaskKind kind, std::uint64_t steps, Work& work) const;
    [[nodiscard]] Work
    made(const LayerWork& layers, std::uint32_t layer, TaskKind kind, std::uint64_t steps) const;

    const Network& network_;
    const KernelTimes& times_;
    const ParallelPlan& plan_;
    LstmWeights lstm_weights_;
    LayerChunks chunks_;
    Network piece_network_;  ///< layers that work by time steps are reduced to one piece
    Network last_network_;
    LayerWork whole_;
    LayerWork piece_;
    LayerWork last_;
    struct OfLayer {
        std::array<Work, 3> piece;  ///< by kind of task
        std::array<Work, 3> last;
    };
    std::vector<OfLayer> work_;
};

/// The graph to be divided: kernel times, output sizes, memory held. An output read on another part
/// counts only where it is produced.
[[nodiscard]] PlacementGraph placement_graph(
    const Network& network, const PlacementWork& work, const KernelTimes& times,
    const ParallelPlan& plan, const PlacementChoice& choice, double link_bandwidth, double memory);

}  // namespace switchfold
