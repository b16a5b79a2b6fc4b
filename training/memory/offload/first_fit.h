// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/offload/staging.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace switchfold {

/// Candidates in the order in which steps first open them.
[[nodiscard]] std::vector<std::uint32_t>
access_order(const TensorUses& schedule, const OffloadProblem& problem);
/// A pseudo-random order determined by the seed.
[[nodiscard]] std::vector<std::uint32_t>
seeded_order(const OffloadProblem& problem, std::uint64_t seed);

/// GeePS's rule (Cui et al., EuroSys 2016; cuihenggang/geeps@124ad773). First, retain the first
/// offloaded candidate of the fullest step that lowers the peak so that the candidate, the retained
/// bytes and twice the new peak fit. If there is none, retain in turn all candidates that fit
/// beside twice the peak. Repeat until nothing changes. The result depends on the order, which
/// GeePS takes from a hash map. `problem` uses double_peak staging: one window per step. \returns
/// the retained candidates; empty if twice the fullest step does not fit.
[[nodiscard]] std::optional<std::vector<bool>> first_fit(
    const OffloadProblem& problem, std::uint64_t capacity, std::span<const std::uint32_t> order);

}  // namespace switchfold
