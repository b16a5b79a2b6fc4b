// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/access/access_schedule.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold::validation {

/// What FlashNeuron copies out: Bae et al., 2021, phase 1, as G10's authors run it.
struct FlashNeuronChoice {
    std::uint64_t pages = 0;           ///< in each direction
    std::vector<bool> travels;         ///< by item
    std::vector<std::uint32_t> begin;  ///< by item: the forward step at whose begin its copy may
};

/// Of tensors that forward steps use and backward steps read, first to last, as many as have to go
/// until the others fit beside weights and the fullest step. Empty: not even all of them suffice.
[[nodiscard]] std::optional<FlashNeuronChoice>
choose_for_flash_neuron(const AccessSchedule& schedule, std::uint64_t pages);

struct FlashNeuronTimes {
    double seconds = 0;
    double compute = 0;
    double copying = 0;  ///< while any copy runs
    [[nodiscard]] double stalled() const { return seconds - compute; }
    [[nodiscard]] double overlapped() const { return copying - stalled(); }
};

/// One iteration in which every tensor lies in one piece (PageMemory): what travels comes from the
/// upper end, all else from the lower. A tensor's copy out begins after its last forward step. The
/// backward pass begins when all copies out have ended. After each of its steps, tensors are
/// fetched ahead as far as the largest hole has room for them beside the fullest step. Steps wait
/// for room and for what is on its way. `rate`: bytes per second, of each direction. Empty: a step
/// waits for room that nothing frees.
[[nodiscard]] std::optional<FlashNeuronTimes> run_flash_neuron(
    const AccessSchedule& schedule,
    const FlashNeuronChoice& choice,
    std::uint64_t pages,
    double rate);

}  // namespace switchfold::validation
