// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/offload/staging.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

struct OptimalOptions {
    /// Sizes are rounded up to multiples of this, bytes. Exact if it divides all sizes.
    std::uint64_t granule = 64 * 1024;
    /// Limit on candidates at a time on which later steps still depend; the time doubles with each.
    std::uint32_t most_flags = 12;
    std::uint64_t most_table_bytes = std::uint64_t{2} << 30U;
    /// Limit on the steps of programmes that bound and try windows: some seconds. A search that
    /// needs more returns the best choice found, without calling it optimal.
    std::uint64_t most_effort = 1'000'000'000;
};

/// What is proved about a choice.
struct OffloadCertificate {
    bool optimal = false;  ///< no choice saves more
    /// Upper bound on the bytes of copies that any planner's choice saves.
    std::uint64_t saved_at_most = 0;
    std::uint64_t window = 0;  ///< limit on the offloaded bytes of the fullest window (P)
    std::uint32_t windows_tried = 0;
    std::uint32_t flags = 0;     ///< of the programme's state
    std::uint64_t granule = 0;   ///< bytes
    std::uint64_t rounding = 0;  ///< bytes that rounding to granules adds, over all candidates
};

struct OffloadChoice {
    std::vector<bool> retained;  ///< by candidate; empty without a choice
    std::string refusal;         ///< reason: "what; what would help"
    OffloadCertificate certificate;
};

/// The choice that saves most copies, by a dynamic programme in pseudo-polynomial time (number of
/// candidates x capacity in granules); the problem is NP-complete. The largest offloaded window is
/// fixed, and candidates are decided in an order in which later windows see few of them. All values
/// of that window that may beat the best choice found are tried. If the granule does not divide the
/// sizes, the choice is optimal for rounded sizes, and the certificate bounds what a better one
/// could save.
[[nodiscard]] OffloadChoice retain_optimally(
    const OffloadProblem& problem, std::uint64_t capacity, const OptimalOptions& options = {});

/// The certificate's bound alone, for other planners: upper bound on the bytes of copies that any
/// choice under this staging saves; empty if the programme is too wide or nothing fits.
[[nodiscard]] std::optional<std::uint64_t> most_saved(
    const OffloadProblem& problem, std::uint64_t capacity, const OptimalOptions& options = {});

/// The least capacity with a feasible choice, bytes; with `refusal` if the programme is too wide.
struct LeastCapacity {
    std::uint64_t bytes = 0;
    std::string refusal;
};
[[nodiscard]] LeastCapacity
least_capacity(const OffloadProblem& problem, const OptimalOptions& options = {});

}  // namespace switchfold
