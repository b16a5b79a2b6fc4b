// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/tensor_uses.h"
#include "training/memory/offload/optimal.h"
#include "training/memory/offload/staging.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// Rule that decides what stays on the GPU.
enum class OffloadPlanner : std::uint8_t {
    kNone,         ///< nothing is moved
    kOffloadAll,   ///< moves everything that can be moved (vDNN's "all", and moments)
    kOffloadConv,  ///< moves what the backward of a convolution reads (vDNN's "conv")
    kFirstFit,     ///< GeePS
    kOptimal,      ///< fewest bytes copied
    kFastest,      ///< the optimal plan with the ring in which steps wait least (fastest_offload())
};
inline constexpr std::array<std::pair<OffloadPlanner, std::string_view>, 6> kOffloadPlannerNames{
    {{OffloadPlanner::kNone, "none"},
     {OffloadPlanner::kOffloadAll, "offload_all"},
     {OffloadPlanner::kOffloadConv, "offload_conv"},
     {OffloadPlanner::kFirstFit, "first_fit"},
     {OffloadPlanner::kOptimal, "optimal"},
     {OffloadPlanner::kFastest, "fastest"}}};
[[nodiscard]] std::string_view name_of(OffloadPlanner planner);

struct OffloadPlanOptions {
    OffloadPlanner planner = OffloadPlanner::kOptimal;
    Staging staging = Staging::kWindow;
    std::uint64_t memory = 0;           ///< total bytes, including resident data
    std::optional<std::uint64_t> seed;  ///< first_fit: a seeded order instead of the access order
    OptimalOptions optimal;
};

/// What a plan keeps on the GPU, moves and needs, in bytes per iteration.
struct OffloadPlan {
    OffloadPlanner planner = OffloadPlanner::kNone;
    Staging staging = Staging::kWindow;
    std::string refusal;         ///< reason why there is no plan; then the rest is empty
    std::vector<bool> retained;  ///< by item; false for items that are no candidates
    std::uint64_t retained_bytes = 0;
    std::uint64_t candidate_bytes = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t staging_bytes = 0;
    std::uint64_t resident_bytes = 0;       ///< data that are no items
    std::vector<std::uint64_t> step_bytes;  ///< bytes in use, by step
    std::uint64_t saved_bytes = 0;          ///< copies that retained items would otherwise need
    /// Upper bound on the saving of any choice under this staging; empty if unknown.
    std::optional<std::uint64_t> saved_at_most;
    OffloadCertificate certificate;  ///< set by `optimal`
    /// Upper bound on what a better choice could still save.
    [[nodiscard]] std::optional<std::uint64_t> gap() const {
        return saved_at_most ? std::optional(*saved_at_most - saved_bytes) : std::nullopt;
    }
    [[nodiscard]] std::uint64_t moved_bytes() const { return bytes_in + bytes_out; }
    /// The least memory in which this choice runs.
    [[nodiscard]] std::uint64_t floor_bytes() const {
        return resident_bytes + retained_bytes + staging_bytes;
    }
};

/// first_fit decides by twice the fullest step, as GeePS does, and then gets the requested staging.
/// optimal is never worse than first_fit, at any granule. \pre not kFastest, which needs rates.
[[nodiscard]] OffloadPlan plan_offload(const TensorUses& schedule, const OffloadPlanOptions& options);

/// Copies and memory operations around a step.
struct StepMoves {
    std::vector<std::uint32_t> prefetch;  ///< items copied in before the step
    std::vector<std::uint32_t> make;      ///< items that it produces: need room before the step
    std::vector<std::uint32_t>
        offload;                      ///< items copied out after the step, which frees their room
    std::vector<std::uint32_t> drop;  ///< items freed after the step
};

/// Moves of offloaded items, by step. An item that stays over the end of the iteration is fetched
/// once, when its stay begins.
[[nodiscard]] std::vector<StepMoves>
step_moves(const TensorUses& schedule, const std::vector<bool>& retained);

}  // namespace switchfold
