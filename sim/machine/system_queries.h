// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"

#include <cstdint>
#include <string>
#include <vector>

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
/// By GPU of the first machine, the number of its way to other machines. GPUs of one number may
/// share links on it, others share none. Empty if all may, and for a single machine.
[[nodiscard]] std::vector<std::uint32_t> ways_out(const SystemParams& system);
/// Whether the switches can reduce for the first `ranks` GPUs.
[[nodiscard]] bool can_reduce_in_switch(const SystemParams& system, std::uint32_t ranks);
/// Whether every switch that reduces takes so many groups at once, whatever others do, so that it
/// does not matter how many there are.
[[nodiscard]] bool admits_groups(const Topology& topology, std::size_t groups);

/// Why a policy's library does not run a call over the first `gpus` GPUs; empty if it does.
[[nodiscard]] std::string why_refused(
    const SystemParams& system, const CollectivePolicy& policy, const CollectiveCall& call,
    std::uint32_t gpus);

}  // namespace switchfold
