// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/pinning/staging.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

struct OptimalOptions {
    /// Sizes are rounded up to multiples of it, bytes. A divisor of all sizes is exact.
    std::uint64_t granule = 64 * 1024;
    /// Candidates whose choice later steps still depend on, at most, at a time: the time doubles
    /// with each.
    std::uint32_t most_flags = 12;
    std::uint64_t most_table_bytes = std::uint64_t{2} << 30U;
    /// Steps of programmes that bound and try windows: some seconds. A search that needs more ends
    /// with the best that it has found, which is then not called optimal.
    std::uint64_t most_effort = 1'000'000'000;
};

/// What is proved of a choice.
struct PinCertificate {
    bool optimal = false;  ///< no choice saves more
    /// No choice saves more bytes of copies than this, whatever the planner.
    std::uint64_t saved_at_most = 0;
    std::uint64_t window = 0;  ///< what the fullest window may hold unpinned (P), bytes
    std::uint32_t windows_tried = 0;
    std::uint32_t flags = 0;     ///< of the programme's state
    std::uint64_t granule = 0;   ///< bytes
    std::uint64_t rounding = 0;  ///< bytes that rounding to granules adds to all candidates
};

struct PinChoice {
    std::vector<bool> pinned;  ///< by candidate; empty where there is no choice
    std::string refusal;       ///< why: "what; what would do"
    PinCertificate certificate;
};

/// The choice that saves most copies, by a dynamic programme in pseudo-polynomial time (number of
/// candidates x capacity in granules); the problem is NP-complete. The largest unpinned window is
/// fixed, and candidates are decided in an order in which few are still seen by later windows; of
/// the values that the window can have, those that may be better than what is found are tried. With
/// sizes that the granule does not divide the choice is optimal for the rounded ones, and the
/// certificate says how much a better one could still save.
[[nodiscard]] PinChoice pin_optimally(
    const PinProblem& problem, std::uint64_t capacity, const OptimalOptions& options = {});

/// The bound of the certificate alone, for choices of other planners: bytes of copies that none
/// under this staging saves more than; empty where the programme is too wide, or nothing fits.
[[nodiscard]] std::optional<std::uint64_t>
most_saved(const PinProblem& problem, std::uint64_t capacity, const OptimalOptions& options = {});

/// The least capacity that a choice exists for, bytes; with `refusal` where the programme is too
/// wide.
struct LeastCapacity {
    std::uint64_t bytes = 0;
    std::string refusal;
};
[[nodiscard]] LeastCapacity
least_capacity(const PinProblem& problem, const OptimalOptions& options = {});

}  // namespace switchfold
