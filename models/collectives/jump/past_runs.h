// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/jump/likeness.h"
#include "sim/core/units.h"

#include <cstdint>
#include <map>
#include <vector>

namespace switchfold {

/// How an undisturbed collective passed.
struct PastRun {
    /// One thing that a member was told.
    struct Told {
        Time at;  ///< since the last member had joined
        std::uint32_t position = 0;
        std::uint32_t left = 0;  ///< rounds that remain of `all`; 0: it moves no more data
        std::uint32_t all = 0;
    };
    Time spread;                  ///< from the first member's joining to the last one's
    std::vector<Told> told;       ///< by time
    std::vector<double> traffic;  ///< counts of the machine's components

    /// Until the first member moves no more data.
    [[nodiscard]] Time first_done() const;
    /// Whether one whose members join over `other` passes alike: those that join early prepare what
    /// they can, and then wait.
    [[nodiscard]] bool suits(Time other) const;
};

/// Past runs by likeness and by how late the last member was. Pure logic, without a clock.
class PastRuns {
public:
    [[nodiscard]] bool knows(const Likeness& likeness) const { return runs_.contains(likeness); }
    /// \returns the run that suits; null if there is none.
    [[nodiscard]] const PastRun* find(const Likeness& likeness, Time spread) const;
    void keep(const Likeness& likeness, PastRun run);
    void forget(const Likeness& likeness) { runs_.erase(likeness); }

private:
    std::map<Likeness, std::vector<PastRun>> runs_;
};

}  // namespace switchfold
