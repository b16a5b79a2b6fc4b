// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/pinning/pinning_plan.h"
#include "workloads/memory/step/memory_facts.h"
#include "workloads/memory/update/update_policy.h"
#include "workloads/plan/step/plan_step.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// Who updates weights.
enum class Updater : std::uint8_t {
    kGpu,
    kHost,  ///< gradients go to the host, which has the moments, and weights come back (Ren et al.,
            ///< ZeRO-Offload, 2021)
};
inline constexpr std::array<std::pair<Updater, std::string_view>, 2> kUpdaterNames{
    {{Updater::kGpu, "gpu"}, {Updater::kHost, "host"}}};

/// What of a step stays on the GPU, what travels, and when weights are updated.
struct MemoryChoice {
    PinPlanner planner = PinPlanner::kOptimal;
    Staging staging = Staging::kWindow;
    Bytes bytes;                   ///< of GPU memory for all of it
    Bytes granule = kibibytes(64);  ///< optimal: sizes are rounded up to multiples of it
    bool weights_travel = false;
    UpdatePolicy updates = UpdatePolicy::kBatch;
    /// Memory for gradients of weights, unless all stay until a batch's updates; 0: the least with
    /// which the policy works, two neighbours for overlapped.
    Bytes gradient_ring;
    bool clip_by_global_norm = false;  ///< of all gradients, before the first update
    bool check_loss_scale = false;     ///< an overflow in any gradient skips all updates
    Updater updater = Updater::kGpu;
    double host_rate = 4e9;  ///< parameters a second that the host updates for a rank
};

/// Why a plan cannot be combined with this, whatever memory there is: the key below memory, and a
/// sentence.
[[nodiscard]] PlanProblems problems_of(const MemoryChoice& choice, const ParallelPlan& plan);

/// A step whose memory is planned: the network is whole on each rank.
struct PlannedMemory {
    MemoryChoice choice;
    MemoryFacts facts;
    std::vector<GradientGroup> groups;  ///< in the order in which they open
    AccessSchedule schedule;
    PinningPlan plan;
    std::uint64_t gradients = 0;  ///< bytes set aside for them
    std::uint64_t shadow = 0;     ///< of weights: overlapped updates write what is still read
    /// All that the plan leaves.
    [[nodiscard]] std::uint64_t ring_bytes() const {
        return choice.bytes.count() - plan.resident_bytes - plan.pinned_bytes;
    }
};

/// \pre problems_of() finds none. `plan.refusal` says why the network does not fit, `problems` what
/// else is wrong.
[[nodiscard]] PlannedMemory planned_memory(
    const PlannedStep& step, const MemoryChoice& choice, PlanProblems& problems);

/// The largest micro-batch that fits, up to that of the step; 0: not even one sample does.
[[nodiscard]] std::uint32_t
largest_micro_batch(const PlannedStep& step, const PlannedMemory& planned);

}  // namespace switchfold
