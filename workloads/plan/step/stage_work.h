// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/schedule/pipeline_schedule.h"
#include "workloads/plan/step/layer_work.h"
#include "workloads/plan/step/stage_memory.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// A network cut into stages: what a rank does of each stage for one micro-batch, and what it
/// keeps.
class StageWork {
public:
    /// `first`: the first layer of each stage, ascending from 0.
    StageWork(
        const Network& network,
        const KernelTimes& times,
        const ParallelPlan& plan,
        std::vector<std::uint32_t> first);

    [[nodiscard]] std::uint32_t stages() const { return static_cast<std::uint32_t>(first_.size()); }
    [[nodiscard]] std::uint32_t first(std::uint32_t stage) const { return first_[stage]; }
    /// Behind its last layer.
    [[nodiscard]] std::uint32_t end(std::uint32_t stage) const;

    /// Passes but updates.
    [[nodiscard]] const Work& work(PassKind kind, std::uint32_t stage) const {
        return work_[stage][static_cast<std::size_t>(kind)];
    }
    /// Isolated kernels of a pass one after the other, in seconds; what communicates is not there.
    [[nodiscard]] double seconds(PassKind kind, std::uint32_t stage) const;
    /// Floating-point operations of products and attention of a pass, recomputed ones not.
    [[nodiscard]] double model_flops(std::uint32_t stage) const;

    /// That the rank holds, those that it shares with an earlier stage among them.
    [[nodiscard]] double parameters(std::uint32_t stage) const;
    /// Those of them that expert-parallel ranks hold different ones of.
    [[nodiscard]] double expert_parameters(std::uint32_t stage) const;
    /// The owner of weights that a stage uses and another stage owns (an embedding at the head).
    [[nodiscard]] std::optional<std::uint32_t> shared_layer(std::uint32_t stage) const;
    [[nodiscard]] std::uint32_t stage_of(std::uint32_t layer) const;
    /// Bytes of one micro-batch's activations that go to the next stage; their gradients come back.
    [[nodiscard]] Bytes message(std::uint32_t stage) const;
    /// Bytes that one micro-batch's forward leaves behind.
    [[nodiscard]] const Kept& kept(std::uint32_t stage) const { return memory(stage).kept; }
    [[nodiscard]] const StageMemory& memory(std::uint32_t stage) const { return memory_[stage]; }
    [[nodiscard]] const LayerWork& layers() const { return layers_; }

private:
    void build(std::uint32_t stage);
    void gather(std::uint32_t stage, std::uint32_t layer, bool upwards, Work& work) const;

    const Network& network_;
    const ParallelPlan& plan_;
    LayerWork layers_;
    std::vector<std::uint32_t> first_;
    std::vector<std::uint64_t> crossing_;
    std::vector<std::array<Work, 4>> work_;  ///< by stage and kind of pass
    std::vector<StageMemory> memory_;
};

/// A layer a stage.
[[nodiscard]] StageWork
layer_by_layer(const Network& network, const KernelTimes& times, const ParallelPlan& plan);

}  // namespace switchfold
