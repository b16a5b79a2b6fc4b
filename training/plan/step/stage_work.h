// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/schedule/pipeline_schedule.h"
#include "training/plan/step/layer_work.h"
#include "training/plan/step/stage_memory.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// A network divided into stages: a rank's work and memory for each stage and one micro-batch.
class StageWork {
public:
    /// `first`: the first layer of each stage, ascending from 0.
    StageWork(
        const Network& network, const KernelTimes& times, const ParallelPlan& plan,
        std::vector<std::uint32_t> first);

    [[nodiscard]] std::uint32_t stages() const { return static_cast<std::uint32_t>(first_.size()); }
    [[nodiscard]] std::uint32_t first(std::uint32_t stage) const { return first_[stage]; }
    /// One past its last layer.
    [[nodiscard]] std::uint32_t end(std::uint32_t stage) const;

    /// Work of a pass; not defined for updates.
    [[nodiscard]] const Work& work(PassKind kind, std::uint32_t stage) const {
        return work_[stage][static_cast<std::size_t>(kind)];
    }
    /// Sum of a pass's isolated kernel times, in seconds, without communication.
    [[nodiscard]] double seconds(PassKind kind, std::uint32_t stage) const;
    /// FLOPs of a pass's products and attention, without recomputation.
    [[nodiscard]] double model_flops(std::uint32_t stage) const;

    /// Parameters that the rank holds, including those shared with an earlier stage.
    [[nodiscard]] double parameters(std::uint32_t stage) const;
    /// Those of them that differ between expert-parallel ranks.
    [[nodiscard]] double expert_parameters(std::uint32_t stage) const;
    /// Parameters whose products round them to 8 bits, of those that do or do not differ between
    /// expert-parallel ranks.
    [[nodiscard]] double rounded_parameters(std::uint32_t stage, bool experts) const;
    /// The layer in another stage that owns weights used by this stage (an embedding at the head).
    [[nodiscard]] std::optional<std::uint32_t> shared_layer(std::uint32_t stage) const;
    [[nodiscard]] std::uint32_t stage_of(std::uint32_t layer) const;
    /// Bytes of one micro-batch's activations sent to the next stage; their gradients return.
    [[nodiscard]] Bytes message(std::uint32_t stage) const;
    /// Memory that one micro-batch's forward leaves behind.
    [[nodiscard]] const Kept& kept(std::uint32_t stage) const { return memory(stage).kept; }
    [[nodiscard]] const StageMemory& memory(std::uint32_t stage) const { return memory_[stage]; }
    [[nodiscard]] const LayerWork& layers() const { return layers_; }
    /// Whether no layer below it in its unit has gradients.
    [[nodiscard]] bool closes_unit(std::uint32_t layer) const;

private:
    void number_units();
    void build(std::uint32_t stage);
    void gather(std::uint32_t stage, std::uint32_t layer, bool upwards, Work& work) const;

    const Network& network_;
    const ParallelPlan& plan_;
    LayerWork layers_;
    std::vector<std::uint32_t> first_;
    std::vector<std::uint64_t> crossing_;
    std::vector<std::uint32_t> units_;  ///< by layer: its unit, in which sharded weights travel
    std::vector<std::array<Work, 4>> work_;  ///< by stage and kind of pass
    std::vector<StageMemory> memory_;
};

/// One stage per layer.
[[nodiscard]] StageWork
layer_by_layer(const Network& network, const KernelTimes& times, const ParallelPlan& plan);

}  // namespace switchfold
