// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/load.h"
#include "training/memory/access/network_schedule.h"
#include "training/memory/compare/compare_planners.h"
#include "training/memory/copies/copy_replay.h"
#include "training/memory/recompute/recompute_chain.h"
#include "training/memory/step/step_memory.h"
#include "training/memory/update/gradient_groups.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A training experiment as seen by memory planners: one GPU's iteration and its machine.
struct MemoryWorkload {
    std::string network;
    std::string gpu;
    std::uint32_t batch = 1;     ///< samples
    std::uint64_t capacity = 0;  ///< of the GPU, bytes; 0: unknown
    CopyRates rates;             ///< between the GPU and its host
    TensorUses schedule;
    ScheduleOfBatch schedule_of;      ///< without times
    std::vector<UpdateLayer> layers;  ///< by layer of the network
    std::vector<ChainUnit> chain;     ///< for recomputation
    std::uint64_t hidden_copies =
        0;                     ///< bytes in each direction that a forward or backward pass can hide
    std::uint64_t bucket = 0;  ///< bytes of gradients that are reduced together
    std::uint64_t first_bucket = 0;
};

/// The memory choice of an experiment with these updates (none: its own), without planner and size.
[[nodiscard]] MemoryChoice
memory_choice_of(const LoadedExperiment& loaded, std::optional<UpdatePolicy> updates);

/// Isolated kernel times of each layer, and the layers' access schedule, both as in a run with this
/// choice. Throws ConfigError for a
/// workload that is not a training, a GPU without kernel times, and plans that divide layers among
/// ranks, which memory planners do not support.
[[nodiscard]] MemoryWorkload
memory_workload(const LoadedExperiment& loaded, const MemoryChoice& choice);

}  // namespace switchfold
