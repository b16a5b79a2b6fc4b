// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "training/memory/step/step_memory.h"

namespace switchfold {

template <>
struct EnumNames<OffloadPlanner> {
    static constexpr auto kNames = kOffloadPlannerNames;
};
template <>
struct EnumNames<Staging> {
    static constexpr auto kNames = kStagingNames;
};
template <>
struct EnumNames<UpdatePolicy> {
    static constexpr auto kNames = kUpdatePolicyNames;
};
template <>
struct EnumNames<Updater> {
    static constexpr auto kNames = kUpdaterNames;
};

/// What stays on the GPU during a generated step, and when weights are updated;
/// docs/memory_plans.md.
struct MemoryChoiceParams : MemoryChoice {
    static constexpr auto fields() {
        return list_of(
            field(
                "planner", &MemoryChoiceParams::planner,
                "Choice of tensors that stay on the GPU: none, all (nothing is offloaded); "
                "offload_all, offload_conv, none of that kind (vDNN); first_fit, by GeePS's rule; "
                "optimal, those that save most copies; fastest, of optimal plans with rings of "
                "several sizes that with the shortest iteration."),
            field(
                "staging", &MemoryChoiceParams::staging,
                "Memory reserved for transferred tensors: window, two consecutive steps; "
                "double_peak, twice the fullest step; single, the fullest step, without prefetch."),
            field(
                "bytes", &MemoryChoiceParams::bytes,
                "GPU memory for everything; 0: the GPU's capacity minus its reserve.", Bytes(0),
                Bytes(1ULL << 50U)),
            field(
                "granule", &MemoryChoiceParams::granule,
                "planner optimal: sizes are rounded up to multiples of this; a larger granule "
                "plans faster.",
                Bytes(1), Bytes(1ULL << 40U)),
            field(
                "weights_travel", &MemoryChoiceParams::weights_travel,
                "Weights may be offloaded to the host, like moments and activations."),
            field(
                "updates", &MemoryChoiceParams::updates,
                "When weights are updated: batch, after the backward pass; immediate, after their "
                "layer; overlapped, beside the gradient of the layer's input; delayed, beside that "
                "of the next layer."),
            field(
                "gradient_ring", &MemoryChoiceParams::gradient_ring,
                "Memory for weight gradients if updates run within the backward pass; 0: the "
                "minimum, which is two neighbouring layers for overlapped.",
                Bytes(0), Bytes(1ULL << 50U)),
            field(
                "clip_by_global_norm", &MemoryChoiceParams::clip_by_global_norm,
                "Clip gradients by their global norm, which is computed before the first update: "
                "only with batch."),
            field(
                "check_loss_scale", &MemoryChoiceParams::check_loss_scale,
                "Check all gradients for overflows before the first update: only with batch."),
            field(
                "updater", &MemoryChoiceParams::updater,
                "Where weights are updated: on the gpu, or on the host, which then holds the "
                "moments (ZeRO-Offload)."),
            field(
                "host_rate", &MemoryChoiceParams::host_rate,
                "updater host: parameters per second that a host updates, for all its ranks "
                "together. ZeRO-Offload's CPU-Adam was measured at 3.3e9 to 4.5e9 on a DGX-2 with "
                "all its cores.",
                1.0, 1e15));
    }
};

}  // namespace switchfold
