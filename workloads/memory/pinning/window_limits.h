// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/pinning/elimination.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// How much a search may still do. One unit: a state of a programme at one candidate.
class Effort {
public:
    explicit Effort(std::uint64_t most) : left_(most) {}
    void spend(const std::vector<PinStage>& stages) {
        for (const PinStage& stage : stages) {
            const std::uint64_t states = std::uint64_t{2} << stage.flags;
            left_ -= std::min(left_, states);
        }
    }
    [[nodiscard]] bool exhausted() const { return left_ == 0; }

private:
    std::uint64_t left_;
};

/// What the fullest window may hold: the values that a choice can give, and what each costs.
class WindowLimits {
public:
    /// \pre order.width() is small: what a window's candidates give is tried out. Searches among
    /// values give up when the effort is exhausted: what they return means nothing then.
    WindowLimits(const PinProblem& problem, const EliminationOrder& order, Effort& effort);

    /// Ascending.
    [[nodiscard]] const std::vector<std::uint64_t>& values() const { return values_; }
    /// Fewest pinned such that no window holds more; empty: impossible.
    [[nodiscard]] std::optional<std::uint64_t> least_pinned(std::uint64_t limit) const;
    /// Index of the first value from `from` on with which least_pinned and staging fit.
    [[nodiscard]] std::optional<std::size_t>
    first_that_fits(std::uint64_t capacity, std::size_t from = 0) const;
    /// What no choice saves more than whose fullest window is one of the values from `begin` to
    /// before `end`: candidates are paid for by the granule, at the best of a few prices
    /// (Lagrange), and windows are kept. Empty: there is no such choice.
    [[nodiscard]] std::optional<std::uint64_t>
    most_saved(std::uint64_t capacity, std::size_t begin, std::size_t end) const;
    /// The least capacity with which any choice fits.
    [[nodiscard]] std::uint64_t least_capacity() const;

private:
    [[nodiscard]] std::optional<std::size_t>
    first_in(std::uint64_t capacity, std::size_t begin, std::size_t end) const;
    void least_in(std::size_t begin, std::size_t end, std::uint64_t& least) const;

    const PinProblem& problem_;
    const EliminationOrder& order_;
    Effort& effort_;
    std::vector<std::uint64_t> values_;
    std::vector<std::uint64_t> prices_;  ///< copies that candidates have, and 0
};

/// Of windows that nobody can make smaller: their bytes that are no candidates'.
[[nodiscard]] std::uint64_t largest_fixed(const PinProblem& problem);

}  // namespace switchfold
