// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A piece of a network that hands what the rest needs to the next piece: a block of a transformer,
/// a residual unit. Bytes and seconds of one batch.
struct ChainUnit {
    std::string name;
    double forward = 0;
    std::uint64_t input = 0;    ///< what crosses from the unit before
    std::uint64_t inside = 0;   ///< what its backward reads of its own forward, beside its input
    std::uint64_t working = 0;  ///< gradients while its backward runs
    /// The part of `inside` that selective recomputation drops (scores of attention), and what it
    /// costs to make it again.
    std::uint64_t selective = 0;
    double selective_seconds = 0;
};

/// What happens to units in a row.
enum class SegmentMode : std::uint8_t {
    kKeep,       ///< one unit: all stays
    kSelective,  ///< one unit: all but its selective part stays
    kOffload,    ///< one unit: all but its input goes to the host and comes back
    kRecompute,  ///< their forward runs again from the first one's input
};

struct Segment {
    SegmentMode mode = SegmentMode::kKeep;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    bool operator==(const Segment&) const = default;
};

/// Segments in the order of the chain, each unit in one.
using RecomputePlan = std::vector<Segment>;

struct RecomputeCost {
    std::uint64_t peak = 0;       ///< activations and gradients, bytes
    std::uint64_t offloaded = 0;  ///< bytes each way
    double extra = 0;             ///< seconds of forward that runs twice
};

/// At the backward of a segment what earlier segments left is there, and all that the segment makes
/// again or fetches; what later ones left is gone.
[[nodiscard]] RecomputeCost cost_of(const std::vector<ChainUnit>& chain, const RecomputePlan& plan);

[[nodiscard]] RecomputePlan keep_all(const std::vector<ChainUnit>& chain);
/// Every unit from its own input.
[[nodiscard]] RecomputePlan recompute_full(const std::vector<ChainUnit>& chain);
/// Units without a selective part are kept.
[[nodiscard]] RecomputePlan recompute_selective(const std::vector<ChainUnit>& chain);
/// Segments of k units; the square root of their number is Chen et al.'s choice (2016).
[[nodiscard]] RecomputePlan recompute_every(const std::vector<ChainUnit>& chain, std::uint32_t k);

struct ExactRecompute {
    std::uint64_t memory = 0;          ///< bytes for activations and gradients
    std::uint64_t offload_budget = 0;  ///< bytes that copies can move each way unseen
    std::size_t most_states = 2'000'000;
};
struct RecomputeChoice {
    std::optional<RecomputePlan> plan;
    RecomputeCost cost;
    std::string refusal;  ///< "what; what was expected"
};
/// The plan that costs least extra time in that memory, of all segmentations with every unit's
/// forward run at most twice: partial plans that are worse in stored bytes, offloaded bytes and
/// time alike are dropped, nothing else.
[[nodiscard]] RecomputeChoice
recompute_exactly(const std::vector<ChainUnit>& chain, const ExactRecompute& options);

/// The least memory of any such plan that does not offload.
[[nodiscard]] std::uint64_t least_recompute_memory(const std::vector<ChainUnit>& chain);

}  // namespace switchfold
