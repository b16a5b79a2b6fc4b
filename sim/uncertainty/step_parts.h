// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/intervals/likeness.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// What a part of a step is like among what was measured.
struct PartKind {
    intervals::Likeness like;
    std::string unmeasured;  ///< why nothing measured is like it; empty: the residuals tell
};

/// Time in which kernels keep a GPU busy, us per step, mean over the ranks.
struct BusyParts {
    double given_us = 0;  ///< alone, as measured on this GPU: without an error of ours
    /// Alone, by index of the kind whose error it has.
    std::vector<std::pair<std::size_t, double>> alone_us;
    double lost_us = 0;    ///< beyond that, to what runs beside them
    double beside_us = 0;  ///< time in which communication is resident beside them
};

/// Exposed communication, with the collectives that it is the end of (exposed_chains.h).
struct ExposedChain {
    double exposed_us = 0;
    std::vector<std::pair<std::size_t, double>> chain_us;  ///< by index of kind
};

/// How much shorter or longer a step may be for what its workload leaves open.
struct OpenTime {
    double less_us = 0;
    double more_us = 0;
    std::string why;
};

/// What a scenario's step is made of.
struct PartsOfStep {
    double iteration_us = 0;
    std::vector<PartKind> kinds;
    std::size_t overlap = 0;          ///< index of the kind whose error lost time has
    BusyParts busy;                   ///< of the whole step
    std::array<BusyParts, 4> phases;  ///< by Phase
    std::vector<ExposedChain> exposed;
    /// Times alone of kernels, of what they are taken as, between which nothing decides.
    std::pair<double, double> kernels_between{1, 1};
    double rest_us = 0;            ///< hosts, gaps and copies, whose errors were not measured
    std::optional<PartKind> step;  ///< of the whole, if steps like it may be measured
    std::optional<OpenTime> open;
};

}  // namespace switchfold
