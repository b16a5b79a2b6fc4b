// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchfold {

class PeriodDetector;

/// What a running collective also is if its work repeats itself: turns, lane by lane, of which some
/// may be left out. A collective that is not one is simulated to its end.
class Repeating {
public:
    Repeating() = default;
    Repeating(const Repeating&) = delete;
    Repeating& operator=(const Repeating&) = delete;
    Repeating(Repeating&&) = delete;
    Repeating& operator=(Repeating&&) = delete;

    /// Log of its turns; null if this one is not to be skipped.
    [[nodiscard]] virtual PeriodDetector* turns() = 0;
    /// Number of turns of `lane`, a multiple of `unit`, that can be skipped while enough remain to
    /// finish correctly.
    [[nodiscard]] virtual std::uint64_t skippable(std::uint32_t lane, std::uint64_t unit) const = 0;
    /// Removes turns from the lane's remaining work; data in flight are unaffected.
    virtual void skip(std::uint32_t lane, std::uint64_t turns) = 0;

protected:
    ~Repeating() = default;
};

}  // namespace switchfold
