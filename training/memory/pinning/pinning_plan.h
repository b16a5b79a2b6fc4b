// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/access_schedule.h"
#include "training/memory/pinning/optimal.h"
#include "training/memory/pinning/staging.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// Rule that decides what stays on the GPU.
enum class PinPlanner : std::uint8_t {
    kNone,         ///< nothing is moved
    kOffloadAll,   ///< moves everything that can be moved (vDNN's "all", and moments)
    kOffloadConv,  ///< moves what the backward of a convolution reads (vDNN's "conv")
    kFirstFit,     ///< GeePS
    kOptimal,      ///< fewest bytes copied
    kFastest,      ///< the optimal plan with the ring in which steps wait least (fastest_pinning())
};
inline constexpr std::array<std::pair<PinPlanner, std::string_view>, 6> kPinPlannerNames{
    {{PinPlanner::kNone, "none"},
     {PinPlanner::kOffloadAll, "offload_all"},
     {PinPlanner::kOffloadConv, "offload_conv"},
     {PinPlanner::kFirstFit, "first_fit"},
     {PinPlanner::kOptimal, "optimal"},
     {PinPlanner::kFastest, "fastest"}}};
[[nodiscard]] std::string_view name_of(PinPlanner planner);

struct PinningOptions {
    PinPlanner planner = PinPlanner::kOptimal;
    Staging staging = Staging::kWindow;
    std::uint64_t memory = 0;           ///< total bytes, including resident data
    std::optional<std::uint64_t> seed;  ///< first_fit: a seeded order instead of the access order
    OptimalOptions optimal;
};

/// What a plan keeps on the GPU, moves and needs, in bytes per iteration.
struct PinningPlan {
    PinPlanner planner = PinPlanner::kNone;
    Staging staging = Staging::kWindow;
    std::string refusal;       ///< reason why there is no plan; then the rest is empty
    std::vector<bool> pinned;  ///< by item; false for items that are no candidates
    std::uint64_t pinned_bytes = 0;
    std::uint64_t candidate_bytes = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t staging_bytes = 0;
    std::uint64_t resident_bytes = 0;       ///< data that are no items
    std::vector<std::uint64_t> step_bytes;  ///< bytes in use, by step
    std::uint64_t saved_bytes = 0;          ///< copies that pinned items would otherwise need
    /// Upper bound on the saving of any choice under this staging; empty if unknown.
    std::optional<std::uint64_t> saved_at_most;
    PinCertificate certificate;  ///< set by `optimal`
    /// Upper bound on what a better choice could still save.
    [[nodiscard]] std::optional<std::uint64_t> gap() const {
        return saved_at_most ? std::optional(*saved_at_most - saved_bytes) : std::nullopt;
    }
    [[nodiscard]] std::uint64_t moved_bytes() const { return bytes_in + bytes_out; }
    /// The least memory in which this choice runs.
    [[nodiscard]] std::uint64_t floor_bytes() const {
        return resident_bytes + pinned_bytes + staging_bytes;
    }
};

/// first_fit decides by twice the fullest step, as GeePS does, and then gets the requested staging.
/// optimal is never worse than first_fit, at any granule. \pre not kFastest, which needs rates.
[[nodiscard]] PinningPlan
plan_pinning(const AccessSchedule& schedule, const PinningOptions& options);

/// Copies and memory operations around a step.
struct StepMoves {
    std::vector<std::uint32_t> fetch;  ///< items copied in before the step
    std::vector<std::uint32_t> make;   ///< items that it produces: need room before the step
    std::vector<std::uint32_t> keep;   ///< items copied out after the step, which frees their room
    std::vector<std::uint32_t> drop;   ///< items freed after the step
};

/// Moves of unpinned items, by step. An item that stays over the end of the iteration is fetched
/// once, when its stay begins.
[[nodiscard]] std::vector<StepMoves>
step_moves(const AccessSchedule& schedule, const std::vector<bool>& pinned);

}  // namespace switchfold
