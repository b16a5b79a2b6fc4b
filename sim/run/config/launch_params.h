// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/params.h"
#include "sim/core/units.h"
#include "workloads/plan/step/launch_times.h"

#include <tuple>

namespace switchfold {

/// Time between two calls of a rank's host; docs/plans.md.
struct LaunchParams : LaunchTimes {
    static constexpr auto fields() {
        using P = LaunchParams;
        return std::tuple{
            field("kernel", &P::kernel, "From a launch of a kernel or copy to the next call."),
            field(
                "collective",
                &P::collective,
                "From a call of a collective, a send or a receive to the next call."),
            field(
                "wait_after_pass",
                &P::wait_after_pass,
                "The host waits for the GPU behind each forward and backward of a stage, as "
                "Megatron-LM's timers made it do.")};
    }
};

}  // namespace switchfold
