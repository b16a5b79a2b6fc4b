// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/offload/elimination.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// Remaining budget of a search. One unit: a state of a programme at one candidate.
class Effort {
public:
    explicit Effort(std::uint64_t most) : left_(most) {}
    void spend(const std::vector<OffloadStage>& stages) {
        for (const OffloadStage& stage : stages) {
            const std::uint64_t states = std::uint64_t{2} << stage.flags;
            left_ -= std::min(left_, states);
        }
    }
    [[nodiscard]] bool exhausted() const { return left_ == 0; }

private:
    std::uint64_t left_;
};

/// Values that the limit of the fullest window can take, with the cost of each.
class WindowLimits {
public:
    /// \pre order.width() is small, because combinations of a window's candidates are enumerated.
    /// Searches among values stop when the effort is exhausted; their results are then meaningless.
    WindowLimits(const OffloadProblem& problem, const EliminationOrder& order, Effort& effort);

    /// Ascending.
    [[nodiscard]] const std::vector<std::uint64_t>& values() const { return values_; }
    /// Fewest retained granules such that no window exceeds `limit`; empty: impossible.
    [[nodiscard]] std::optional<std::uint64_t> least_retained(std::uint64_t limit) const;
    /// Index of the first value from `from` on for which least_retained and the staging fit.
    [[nodiscard]] std::optional<std::size_t>
    first_that_fits(std::uint64_t capacity, std::size_t from = 0) const;
    /// Upper bound on the saving of choices whose fullest window is one of the values [begin, end):
    /// candidates are charged per granule at the best of a few prices (Lagrangian relaxation),
    /// subject to the windows. Empty: there is no such choice.
    [[nodiscard]] std::optional<std::uint64_t>
    most_saved(std::uint64_t capacity, std::size_t begin, std::size_t end) const;
    /// The least capacity in which any choice fits.
    [[nodiscard]] std::uint64_t least_capacity() const;

private:
    [[nodiscard]] std::optional<std::size_t>
    first_in(std::uint64_t capacity, std::size_t begin, std::size_t end) const;
    void least_in(std::size_t begin, std::size_t end, std::uint64_t& least) const;

    const OffloadProblem& problem_;
    const EliminationOrder& order_;
    Effort& effort_;
    std::vector<std::uint64_t> values_;
    std::vector<std::uint64_t> prices_;  ///< numbers of copies that candidates have, and 0
};

/// The largest number of bytes in a window that are not candidates'.
[[nodiscard]] std::uint64_t largest_fixed(const OffloadProblem& problem);

}  // namespace switchfold
