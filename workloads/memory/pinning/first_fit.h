// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/pinning/staging.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace switchfold {

/// Candidates in the order in which steps first open them.
[[nodiscard]] std::vector<std::uint32_t>
access_order(const AccessSchedule& schedule, const PinProblem& problem);
/// An order that the seed alone determines.
[[nodiscard]] std::vector<std::uint32_t>
seeded_order(const PinProblem& problem, std::uint64_t seed);

/// GeePS's rule (Cui et al., EuroSys 2016; cuihenggang/geeps@124ad773): while an unpinned candidate
/// of the fullest step brings the peak down such that it, what is pinned and twice the lowered peak
/// fit, the first of them is pinned; when there is none, all candidates in turn that fit beside
/// twice the peak; again until nothing changes. The result depends on the order, which GeePS takes
/// from a hash map. `problem` is one of double_peak staging: a window a step.
/// \returns what is pinned, by candidate; empty if twice the fullest step does not fit.
[[nodiscard]] std::optional<std::vector<bool>>
first_fit(const PinProblem& problem, std::uint64_t capacity, std::span<const std::uint32_t> order);

}  // namespace switchfold
