// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/recomputed_layers.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A unit of a network that passes everything the rest needs to the next unit: a transformer block,
/// a residual unit. Bytes and seconds are for one batch.
struct ChainUnit {
    std::string name;
    double forward = 0;
    std::uint64_t input = 0;  ///< bytes from the previous unit
    std::uint64_t inside =
        0;  ///< bytes of its own forward that its backward reads, besides its input
    std::uint64_t working = 0;  ///< gradients during its backward
    /// The part of `inside` that selective recomputation drops (attention scores), and the time to
    /// recompute it.
    std::uint64_t selective = 0;
    double selective_seconds = 0;
    std::vector<LayerRange> selective_layers = {};  ///< of which it drops the scores
    LayerRange layers = {};                         ///< of the network it was made from
};

/// Treatment of consecutive units.
enum class SegmentMode : std::uint8_t {
    kKeep,       ///< one unit: keeps everything
    kSelective,  ///< one unit: keeps everything except its selective part
    kOffload,    ///< one unit: sends everything except its input to the host and back
    kRecompute,  ///< repeats their forward from the first unit's input
};

struct Segment {
    SegmentMode mode = SegmentMode::kKeep;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    bool operator==(const Segment&) const = default;
};

/// Segments in chain order, covering each unit once.
using RecomputePlan = std::vector<Segment>;

struct RecomputeCost {
    std::uint64_t peak = 0;       ///< bytes of activations and gradients
    std::uint64_t held = 0;       ///< bytes where what is kept has its place all along
    std::uint64_t offloaded = 0;  ///< bytes in each direction
    double extra = 0;             ///< seconds of repeated forward
};

/// During a segment's backward, memory holds what earlier segments stored and all that this segment
/// recomputes or fetches; later segments' data are freed.
[[nodiscard]] RecomputeCost cost_of(const std::vector<ChainUnit>& chain, const RecomputePlan& plan);

[[nodiscard]] RecomputePlan keep_all(const std::vector<ChainUnit>& chain);
/// Recomputes every unit from its own input.
[[nodiscard]] RecomputePlan recompute_full(const std::vector<ChainUnit>& chain);
/// Keeps units without a selective part.
[[nodiscard]] RecomputePlan recompute_selective(const std::vector<ChainUnit>& chain);
/// Segments of k units; Chen et al. (2016) choose the square root of the number of units.
[[nodiscard]] RecomputePlan recompute_every(const std::vector<ChainUnit>& chain, std::uint32_t k);

struct ExactRecompute {
    std::uint64_t memory = 0;          ///< bytes for activations and gradients
    std::uint64_t offload_budget = 0;  ///< bytes in each direction that copies can hide
    /// What is kept has its place all along, as in a plan of memory: later segments' is not free
    /// for the backward of earlier ones. \pre offload_budget is 0.
    bool held = false;
    std::size_t most_states = 2'000'000;
};
struct RecomputeChoice {
    std::optional<RecomputePlan> plan;
    RecomputeCost cost;
    std::string refusal;  ///< "what; what was expected"
};
/// The plan with the least extra time in that memory, among all segmentations that run each unit's
/// forward at most twice. Only partial plans that are worse in stored bytes, offloaded bytes and
/// time alike are dropped.
[[nodiscard]] RecomputeChoice
recompute_exactly(const std::vector<ChainUnit>& chain, const ExactRecompute& options);

/// The least memory of any such plan without offloading.
[[nodiscard]] std::uint64_t
least_recompute_memory(const std::vector<ChainUnit>& chain, bool held = false);

}  // namespace switchfold
