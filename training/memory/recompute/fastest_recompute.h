// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/network_schedule.h"
#include "training/memory/copies/copy_replay.h"
#include "training/memory/recompute/recompute_chain.h"

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
enum class TrialDetail : std::uint8_t {
    kRough,  ///< larger granules: tells trials apart, in a fraction of the time
    kFull,
};
/// `best`: seconds of the best trial yet; with `travels`, one whose kernels alone take as long may
/// be given up.
using TryRecompute = std::function<RecomputeTrial(
    const std::vector<LayerRange>& again, double best, TrialDetail detail)>;

/// Layers that a plan of a chain repeats: segments that are recomputed, attentions of selective
/// ones. What it offloads is kept: a plan of memory decides what travels.
[[nodiscard]] std::vector<LayerRange>
layers_again(const std::vector<ChainUnit>& chain, const RecomputePlan& plan);

/// Bytes in each direction that copies hide beside the shorter of forward and backward pass.
[[nodiscard]] std::uint64_t
hidden_copies(std::span<const LayerTimes> times, const CopyRates& rates);

struct RecomputeOptions {
    bool travels = false;          ///< whether the plan of memory may offload
    std::uint64_t hidden = 0;      ///< hidden_copies()
    std::vector<LayerRange> rule;  ///< repeated by recompute full
};

/// The layers to repeat for the shortest iteration: keeping all, the rules full and selective, and
/// the chain's exact plans for many sizes of memory are tried, beside offloading for fewer, and
/// with copies that hide. A chain leaves out what a schedule adds (open gradients, staging), so
/// only a trial tells which size fits. Exact plans beside offloading are tried roughly, and the
/// best of them again in full. If none fits, the chain's plan of least memory.
[[nodiscard]] std::vector<LayerRange> fastest_recompute(
    const std::vector<ChainUnit>& chain, const RecomputeOptions& options,
    const TryRecompute& trial);

/// Whether keeping all, the rule or the chain's plan of least memory fits.
[[nodiscard]] bool any_recompute_fits(
    const std::vector<ChainUnit>& chain, const std::vector<LayerRange>& rule,
    const TryRecompute& trial);

}  // namespace switchfold
