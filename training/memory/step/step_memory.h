// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/copies/copy_replay.h"
#include "training/memory/offload/offload_plan.h"
#include "training/memory/step/memory_facts.h"
#include "training/memory/update/update_policy.h"
#include "training/plan/step/plan_step.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// Where weights are updated.
enum class Updater : std::uint8_t {
    kGpu,
    kHost,  ///< gradients are copied to the host, which holds the moments, and weights back (Ren et
            ///< al., ZeRO-Offload, 2021)
};
inline constexpr std::array<std::pair<Updater, std::string_view>, 2> kUpdaterNames{
    {{Updater::kGpu, "gpu"}, {Updater::kHost, "host"}}};

/// What stays on the GPU during a step, what is copied, and when weights are updated.
struct MemoryChoice {
    OffloadPlanner planner = OffloadPlanner::kOptimal;
    Staging staging = Staging::kWindow;
    Bytes bytes;                    ///< total GPU memory
    Bytes granule = kibibytes(64);  ///< optimal: sizes are rounded up to multiples of this
    bool weights_travel = false;
    UpdatePolicy updates = UpdatePolicy::kBatch;
    /// Memory for weight gradients, unless all stay until a batch's updates; 0: the least that the
    /// policy needs (overlapped: two neighbours).
    Bytes gradient_ring;
    bool clip_by_global_norm = false;  ///< over all gradients, before the first update
    bool check_loss_scale = false;     ///< an overflow in any gradient skips all updates
    Updater updater = Updater::kGpu;
    double host_rate = 4e9;  ///< parameters per second that a host updates, for all its ranks
    std::uint32_t ranks_a_host = 1;  ///< which update at the same time
    CopyRates rates;                 ///< of the GPU's copies alone, for the fastest plan
};

/// Reasons why a plan cannot be combined with this choice at any memory size: the key below memory,
/// and a sentence. `unlike`: why its ranks are not alike; empty if they are.
[[nodiscard]] PlanProblems
problems_of(const MemoryChoice& choice, const ParallelPlan& plan, const std::string& unlike = {});

/// A step with planned memory; each rank has a part of every layer.
struct StepMemory {
    MemoryChoice choice;
    MemoryFacts facts;                  ///< options.again: the chosen layers if the plan says exact
    std::vector<GradientGroup> groups;  ///< in the order in which they open
    TensorUses schedule;
    OffloadPlan plan;
    std::uint64_t gradients = 0;  ///< bytes reserved for them
    std::uint64_t shadow =
        0;  ///< copies of weights: overlapped updates write weights that are still read
    /// Everything that the plan leaves free.
    [[nodiscard]] std::uint64_t ring_bytes() const {
        return choice.bytes.count() - plan.resident_bytes - plan.retained_bytes;
    }
};

/// \pre problems_of() is empty. `plan.refusal` says why the network does not fit; `problems`
/// receives other problems.
[[nodiscard]] StepMemory
planned_memory(const TrainingStep& step, const MemoryChoice& choice, PlanProblems& problems);

/// The same before anything is retained, which may be planned otherwise: `plan` is empty, and the
/// plan's layers are repeated, not chosen. `facts`: of that plan.
[[nodiscard]] StepMemory memory_before_planning(
    MemoryFacts facts, const ParallelPlan& plan, const MemoryChoice& choice,
    PlanProblems& problems);

/// Its schedule with micro-batches of another size, without times.
[[nodiscard]] TensorUses schedule_with_batch(const StepMemory& planned, std::uint32_t micro_batch);

/// The same layers again, with updates behind the backward pass and the gradients that this needs.
[[nodiscard]] StepMemory with_batch_updates(const StepMemory& planned);

/// The largest micro-batch that fits, up to that of the step; 0: not even one sample fits.
[[nodiscard]] std::uint32_t
largest_micro_batch(const TrainingStep& step, const StepMemory& planned);

}  // namespace switchfold
