// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/step/step_memory.h"
#include "training/plan/step/layer_memory.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace switchfold {

/// Whether devices of a plan have passes or parts of weights of their own, so that the memory of
/// each is planned: stages, shares of samples or experts, weights or gradients of which replicas
/// keep parts.
[[nodiscard]] bool has_parts(const ParallelPlan& plan);

/// Steps whose devices have planned memory each. A device's passes open what its layers read and
/// write; a micro-batch in flight has buffers of its own, which travel like other tensors.
class PlannedDevices : public LayerMemories {
public:
    /// Plans the memory of a step's devices. \pre problems_of() is empty, and the step outlives
    /// this object. \returns why it does not fit; empty if it does
    [[nodiscard]] std::string add(const TrainingStep& step, const MemoryChoice& choice);
    [[nodiscard]] const std::vector<StepMemory>& devices(const TrainingStep& step) const;
    /// The device that copies most; of several the first.
    [[nodiscard]] const StepMemory& busiest() const;

    [[nodiscard]] std::unique_ptr<LayerMemory>
    of(const TrainingStep& step, std::uint32_t device) const override;

private:
    struct OfStep {
        const TrainingStep* step;
        std::vector<StepMemory> devices;
    };
    std::vector<OfStep> steps_;  ///< in the order in which they were added
};

/// The largest micro-batch that fits on all devices of a step, up to that of the step; 0: not even
/// one sample fits.
[[nodiscard]] std::uint32_t
largest_micro_batch(const TrainingStep& step, const MemoryChoice& choice);

}  // namespace switchfold
