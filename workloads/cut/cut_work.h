// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/cut/cut_choice.h"
#include "workloads/cut/cut_graph.h"
#include "workloads/cut/cut_tasks.h"
#include "workloads/cut/layer_chunks.h"
#include "workloads/kernels/kernel_times.h"
#include "workloads/network/network.h"
#include "workloads/plan/step/layer_work.h"
#include "workloads/plan/step/parallel_plan.h"

#include <array>
#include <cstdint>
#include <vector>

namespace switchfold {

/// The kernels of each layer's tasks, one micro-batch. An LSTM's time steps are a kernel each, one
/// product with the four gates in its end; its weight gradient is one product over all steps. Of a
/// piece the first step reads the weights from memory and the others from where the choice says.
/// Refers to what it is made of.
class CutWork {
public:
    CutWork(
        const Network& network,
        const KernelTimes& times,
        const ParallelPlan& plan,
        const CutChoice& choice);
    CutWork(const CutWork&) = delete;
    CutWork& operator=(const CutWork&) = delete;

    [[nodiscard]] const LayerChunks& chunks() const { return chunks_; }
    [[nodiscard]] const LayerWork& layers() const { return whole_; }
    [[nodiscard]] const Work& work(TaskKind kind, std::uint32_t layer, std::uint32_t chunk) const;
    /// Kernels one after the other, of all pieces.
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
    Network piece_network_;  ///< layers by steps are one piece of it
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

/// The graph that is divided: times of the kernels, sizes of the outputs, what stays in memory. An
/// output that is read on another part is counted where it is made alone.
[[nodiscard]] CutGraph cut_graph(
    const Network& network,
    const CutWork& work,
    const KernelTimes& times,
    const ParallelPlan& plan,
    const CutChoice& choice,
    double link_bandwidth,
    double memory);

}  // namespace switchfold
