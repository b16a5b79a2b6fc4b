// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/access/access_schedule.h"
#include "workloads/memory/pinning/optimal.h"
#include "workloads/memory/pinning/staging.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// Who decides what stays on the GPU.
enum class PinPlanner : std::uint8_t {
    kNone,         ///< nothing travels
    kOffloadAll,   ///< everything that may travel does (vDNN's "all", and moments)
    kOffloadConv,  ///< what backward of a convolution reads does (vDNN's "conv")
    kFirstFit,     ///< GeePS
    kOptimal,      ///< fewest bytes
};
inline constexpr std::array<std::pair<PinPlanner, std::string_view>, 5> kPinPlannerNames{
    {{PinPlanner::kNone, "none"},
     {PinPlanner::kOffloadAll, "offload_all"},
     {PinPlanner::kOffloadConv, "offload_conv"},
     {PinPlanner::kFirstFit, "first_fit"},
     {PinPlanner::kOptimal, "optimal"}}};
[[nodiscard]] std::string_view name_of(PinPlanner planner);

struct PinningOptions {
    PinPlanner planner = PinPlanner::kOptimal;
    Staging staging = Staging::kWindow;
    std::uint64_t memory = 0;           ///< bytes for all of it, what is resident too
    std::optional<std::uint64_t> seed;  ///< first_fit: a seeded order instead of the access order
    OptimalOptions optimal;
};

/// What a plan keeps on the GPU, moves and needs. All in bytes, of one iteration.
struct PinningPlan {
    PinPlanner planner = PinPlanner::kNone;
    Staging staging = Staging::kWindow;
    std::string refusal;       ///< why there is none; the rest is empty then
    std::vector<bool> pinned;  ///< by item; what is no candidate is not
    std::uint64_t pinned_bytes = 0;
    std::uint64_t candidate_bytes = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t staging_bytes = 0;
    std::uint64_t resident_bytes = 0;       ///< what is no item
    std::vector<std::uint64_t> step_bytes;  ///< in use, by step
    std::uint64_t saved_bytes = 0;          ///< of copies that pinned items would need
    /// No choice under this staging saves more; empty where that is not known.
    std::optional<std::uint64_t> saved_at_most;
    PinCertificate certificate;  ///< of optimal
    /// What a better choice could still save at most.
    [[nodiscard]] std::optional<std::uint64_t> gap() const {
        return saved_at_most ? std::optional(*saved_at_most - saved_bytes) : std::nullopt;
    }
    [[nodiscard]] std::uint64_t moved_bytes() const { return bytes_in + bytes_out; }
    /// The least memory that this choice runs in.
    [[nodiscard]] std::uint64_t floor_bytes() const {
        return resident_bytes + pinned_bytes + staging_bytes;
    }
};

/// first_fit decides by twice the fullest step, as GeePS does, and is then given the staging that
/// it is asked for. optimal is never worse than first_fit, at any granule.
[[nodiscard]] PinningPlan
plan_pinning(const AccessSchedule& schedule, const PinningOptions& options);

/// What a step needs done around it.
struct StepMoves {
    std::vector<std::uint32_t> fetch;  ///< items copied in before
    std::vector<std::uint32_t> make;   ///< items that it makes: room for them before
    std::vector<std::uint32_t> keep;   ///< items copied out behind, their room is free then
    std::vector<std::uint32_t> drop;   ///< items whose room is free behind
};

/// By step, of what is not pinned. What stays over the end of the iteration is fetched once, when
/// its stay begins.
[[nodiscard]] std::vector<StepMoves>
step_moves(const AccessSchedule& schedule, const std::vector<bool>& pinned);

}  // namespace switchfold
