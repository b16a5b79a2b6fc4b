// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"

#include <cstdint>
#include <string>

namespace switchfold {

/// Number of GPUs of a system.
[[nodiscard]] std::uint32_t gpus_of(const SystemParams& system);
/// SMs of that of its first `ranks` GPUs that has fewest.
[[nodiscard]] std::uint32_t fewest_sms(const SystemParams& system, std::uint32_t ranks);
/// ... and the least shared memory of an SM.
[[nodiscard]] Bytes least_shared_memory(const SystemParams& system, std::uint32_t ranks);
/// "3 x A, 5 x B", with all GPUs of a kind together.
[[nodiscard]] std::string gpu_names(const SystemParams& system);
/// GPUs of one of its machines.
[[nodiscard]] std::uint32_t gpus_of_machine(const SystemParams& system);
/// Payload a second from a GPU to the next: of another machine, where there are several.
[[nodiscard]] Bandwidth bandwidth_between(const SystemParams& system);
/// Whether each GPU of a machine has a way to other machines of its own; false for one machine.
[[nodiscard]] bool own_ways_out(const SystemParams& system);
/// Whether a system's switches can reduce for its first `ranks` GPUs.
[[nodiscard]] bool can_reduce_in_switch(const SystemParams& system, std::uint32_t ranks);

/// Why the policy's kernels cannot run a collective over the first `gpus` GPUs; empty if they can.
[[nodiscard]] std::string why_not_kernels(
    const SystemParams& system,
    const CollectivePolicy& policy,
    const CollectiveCall& call,
    std::uint32_t gpus);

}  // namespace switchfold
