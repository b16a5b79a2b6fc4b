// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "training/plan/step/launch_times.h"

namespace switchfold {

/// Time between two calls of a rank's host; docs/plans.md.
struct LaunchParams : LaunchTimes {
    static constexpr auto fields() {
        using P = LaunchParams;
        return list_of(
            field(
                "kernel", &P::kernel,
                "Host time from a launch of a kernel or copy to the next call."),
            field(
                "collective", &P::collective,
                "Host time from a call of a collective, send or receive to the next call."),
            field(
                "wait_after_pass", &P::wait_after_pass,
                "The host waits for the GPU after each forward and backward pass of a stage, as "
                "with Megatron-LM's timers."),
            field(
                "wait_around_recomputed", &P::wait_around_recomputed,
                "The host waits for the GPU before and after layers that are recomputed together, "
                "forward and backward, as with DeepSpeed's synchronize_checkpoint_boundary."),
            field(
                "wait_for_batch", &P::wait_for_batch,
                "The host waits for the GPU before each forward pass of a stage, as where "
                "Megatron-LM reads back the sizes of a batch."),
            field(
                "batch", &P::batch,
                "Launches of short kernels and copies before each forward pass of a stage, for "
                "tokens, positions and masks.",
                0U, 10'000U),
            field(
                "vocabulary", &P::vocabulary,
                "Launches of short kernels for an embedding whose words tensor-parallel ranks "
                "divide.",
                0U, 10'000U),
            field(
                "loss", &P::loss, "Launches of short kernels for a loss: masks of targets, means.",
                0U, 10'000U));
    }
};

}  // namespace switchfold
