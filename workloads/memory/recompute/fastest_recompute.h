// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/access/network_schedule.h"
#include "workloads/memory/copies/copy_replay.h"
#include "workloads/memory/recompute/recompute_chain.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace switchfold {

/// What a plan of memory makes of an iteration that repeats some layers.
struct RecomputeTrial {
    bool fits = false;
    double seconds = 0;  ///< without contention
};
using TryRecompute = std::function<RecomputeTrial(const std::vector<LayerRange>& again)>;

/// Layers that a plan of a chain repeats: segments that are recomputed, attentions of selective
/// ones. What it offloads is kept: a plan of memory decides what travels.
[[nodiscard]] std::vector<LayerRange>
layers_again(const std::vector<ChainUnit>& chain, const RecomputePlan& plan);

/// Bytes in each direction that copies hide beside the shorter of forward and backward pass.
[[nodiscard]] std::uint64_t
hidden_copies(std::span<const LayerTimes> times, const CopyRates& rates);

struct RecomputeOptions {
    bool travels = false;      ///< whether the plan of memory may offload
    std::uint64_t hidden = 0;  ///< hidden_copies()
};

/// The layers to repeat for the shortest iteration: keeping all, the rules full and selective, and
/// exact plans of the chain are tried. Memory of the chain leaves out what a schedule adds (open
/// gradients, staging), so the exact plan is that of the most memory with which the trial still
/// fits, found by bisection. Beside offloading nearly all fits; then exact plans for several sizes
/// are tried, with and without copies that hide. Nothing is repeated if no trial fits.
[[nodiscard]] std::vector<LayerRange> fastest_recompute(
    const std::vector<ChainUnit>& chain,
    const RecomputeOptions& options,
    const TryRecompute& trial);

/// Whether the plan that needs least memory, or that keeps all, fits.
[[nodiscard]] bool
any_recompute_fits(const std::vector<ChainUnit>& chain, const TryRecompute& trial);

}  // namespace switchfold
