// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/running_collective.h"

#include <memory>
#include <string>

namespace switchfold {

/// Resources that a collective takes on a GPU, and the delays of its kernel.
struct ResidentShape {
    std::uint32_t threads = 0;
    std::uint32_t registers_per_thread = 0;
    Bytes shared_memory;
    Time launch_latency;  ///< half of it precedes the first data movement, half follows the last
    Time start_overhead;  ///< additional, before the first
};
[[nodiscard]] ResidentShape kernel_shape(const CollectiveParams& params, const Choice& choice);
/// The same of a collective that may take its traced time: its launch lies outside of that.
[[nodiscard]] ResidentShape
kernel_shape(const CollectiveParams& params, const CollectiveSpec& spec);

/// Constructs a collective according to its choice. Null, with the reason in `refused`, if a switch
/// has no room for its group.
[[nodiscard]] std::unique_ptr<RunningCollective> make_collective(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener,
    std::string& refused);

}  // namespace switchfold
