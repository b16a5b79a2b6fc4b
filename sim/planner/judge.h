// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/record.h"
#include "sim/planner/candidate.h"

#include <span>
#include <string>
#include <vector>

namespace switchfold {

/// What is known of a candidate before its simulation.
struct Judged {
    std::string refused;  ///< reason for rejection: key, space, sentence
    double memory_bytes = 0;
    bool fits = false;
    bool fold = false;
    PlanBound bound;

    static constexpr auto fields() {
        using J = Judged;
        return list_of(
            member("refused", &J::refused), member("memory_bytes", &J::memory_bytes),
            member("fits", &J::fits), member("fold", &J::fold), member("bound", &J::bound));
    }
};

/// Judges candidates in `jobs` processes. Those that differ only in their scenario must be
/// adjacent.
[[nodiscard]] std::vector<Judged> judge_all(
    const LoadedExperiment& loaded, std::span<const PlanCandidate> candidates, unsigned jobs,
    const JudgeProgress& progress);

}  // namespace switchfold
