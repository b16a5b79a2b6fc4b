// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/params.h"
#include "sim/core/units.h"
#include "workloads/memory/step/planned_memory.h"

#include <tuple>

namespace switchfold {

template <>
struct EnumNames<PinPlanner> {
    static constexpr auto kNames = kPinPlannerNames;
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
        return std::tuple{
            field(
                "planner",
                &MemoryChoiceParams::planner,
                "What stays on the GPU: none, everything (nothing travels); offload_all, "
                "offload_conv, nothing of that kind (vDNN); first_fit, what GeePS's rule finds; "
                "optimal, what saves most copies."),
            field(
                "staging",
                &MemoryChoiceParams::staging,
                "Memory set aside for what travels: window, two steps in a row; double_peak, twice "
                "the fullest step; single, the fullest step, and nothing is fetched ahead."),
            field(
                "bytes",
                &MemoryChoiceParams::bytes,
                "GPU memory for all of it; 0: what the GPU has, less its reserve.",
                Bytes(0),
                Bytes(1ULL << 50U)),
            field(
                "granule",
                &MemoryChoiceParams::granule,
                "planner optimal: sizes are rounded up to multiples of it. Larger ones are "
                "planned faster.",
                Bytes(1),
                Bytes(1ULL << 40U)),
            field(
                "weights_travel",
                &MemoryChoiceParams::weights_travel,
                "Weights may lie on the host too, as moments and activations may."),
            field(
                "updates",
                &MemoryChoiceParams::updates,
                "When weights are updated: batch, after the backward pass; immediate, behind their "
                "layer; overlapped, beside the gradient of the layer's input; delayed, beside that "
                "of the next layer."),
            field(
                "gradient_ring",
                &MemoryChoiceParams::gradient_ring,
                "Updates within the backward pass: memory for gradients of weights; 0: the least "
                "that works, two neighbours for overlapped.",
                Bytes(0),
                Bytes(1ULL << 50U)),
            field(
                "clip_by_global_norm",
                &MemoryChoiceParams::clip_by_global_norm,
                "Gradients are clipped by the norm of all of them, which is computed before the "
                "first update: batch alone."),
            field(
                "check_loss_scale",
                &MemoryChoiceParams::check_loss_scale,
                "All gradients are searched for overflows before the first update: batch alone."),
            field(
                "updater",
                &MemoryChoiceParams::updater,
                "Who updates weights: the gpu, or the host, which has the moments then "
                "(ZeRO-Offload)."),
            field(
                "host_rate",
                &MemoryChoiceParams::host_rate,
                "updater host: parameters a second that it updates for a rank. ZeRO-Offload's "
                "CPU-Adam was measured at 3.3e9 to 4.5e9 on a DGX-2, all of its cores.",
                1.0,
                1e15)};
    }
};

}  // namespace switchfold
