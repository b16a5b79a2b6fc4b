// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/running_collective.h"

#include <memory>
#include <string>

namespace switchfold {

/// What a collective takes of a GPU, and when its kernel begins.
struct KernelShape {
    std::uint32_t threads = 0;
    std::uint32_t registers_per_thread = 0;
    Bytes shared_memory;
    Time launch_latency;  ///< half of it before the first data move, half after the last
    Time start_overhead;  ///< beside it, before the first
};
[[nodiscard]] KernelShape kernel_shape(const CollectiveParams& params, const Choice& choice);

/// Makes a collective as its choice says. Nothing, and why, if a switch has no room for its group.
[[nodiscard]] std::unique_ptr<RunningCollective> make_collective(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener,
    std::string& refused);

}  // namespace switchfold
