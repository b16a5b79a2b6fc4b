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
    double lacks = 0;      ///< bytes that the GPU that lacks most has too few; 0: it fits
    double needs = 0;      ///< bytes that a rank needs on that GPU
    std::string lacks_on;  ///< its name
    bool fits = false;
    bool fold = false;
    PlanBound bound;

    static constexpr auto fields() {
        using J = Judged;
        return list_of(
            member("refused", &J::refused), member("memory_bytes", &J::memory_bytes),
            member("lacks", &J::lacks), member("needs", &J::needs),
            member("lacks_on", &J::lacks_on), member("fits", &J::fits), member("fold", &J::fold),
            member("bound", &J::bound));
    }
};

/// Judges candidates in `jobs` processes. Those that differ only in their scenario must be
/// adjacent.
[[nodiscard]] std::vector<Judged> judge_all(
    const LoadedExperiment& loaded, std::span<const PlanCandidate> candidates, unsigned jobs,
    const JudgeProgress& progress);

}  // namespace switchfold
