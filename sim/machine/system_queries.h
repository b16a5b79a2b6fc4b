// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"

#include <cstdint>
#include <string>

namespace switchfold {

/// Number of GPUs of a system.
[[nodiscard]] std::uint32_t gpus_of(const SystemParams& system);
/// SMs of the GPU with the fewest among the first `ranks`.
[[nodiscard]] std::uint32_t fewest_sms(const SystemParams& system, std::uint32_t ranks);
/// Least shared memory per SM among them.
[[nodiscard]] Bytes least_shared_memory(const SystemParams& system, std::uint32_t ranks);
/// "3 x A, 5 x B", grouped by kind.
[[nodiscard]] std::string gpu_names(const SystemParams& system);
/// GPUs per machine.
[[nodiscard]] std::uint32_t gpus_of_machine(const SystemParams& system);
/// Payload per second from a GPU to the next, on another machine if there are several.
[[nodiscard]] Bandwidth bandwidth_between(const SystemParams& system);
/// Whether each GPU of a machine has its own path to other machines; false for a single machine.
[[nodiscard]] bool own_ways_out(const SystemParams& system);
/// Whether the switches can reduce for the first `ranks` GPUs.
[[nodiscard]] bool can_reduce_in_switch(const SystemParams& system, std::uint32_t ranks);

/// Why a policy's library does not run a call over the first `gpus` GPUs; empty if it does.
[[nodiscard]] std::string why_refused(
    const SystemParams& system, const CollectivePolicy& policy, const CollectiveCall& call,
    std::uint32_t gpus);

}  // namespace switchfold
