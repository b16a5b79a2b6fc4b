// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// How far a collective's lanes had come at the ends of its windows. A like collective moves alike:
/// what an earlier one took from some turn on, this one takes too, even if its pace wanders so much
/// that no stretch of it repeats. Pure logic, without a clock.
class PastMotion {
public:
    /// Turns of each lane (mean of its parts), those left out included, at `at` (ps). Neither ever
    /// decreases.
    void note(std::uint64_t at, std::vector<double> turns);
    [[nodiscard]] bool empty() const { return marks_.empty(); }

    /// A way from one place to another, both as turns of the first lane.
    struct Way {
        double time = 0;            ///< ps
        std::vector<double> turns;  ///< by lane
    };
    /// \returns nothing for a way that is not between the first and the last mark.
    [[nodiscard]] std::optional<Way> way(double from, double to) const;
    [[nodiscard]] double first() const { return marks_.front().turns.front(); }
    [[nodiscard]] double last() const { return marks_.back().turns.front(); }

private:
    struct Mark {
        double at = 0;  ///< ps
        std::vector<double> turns;
    };
    [[nodiscard]] Mark at(double turns) const;
    /// Drops every other mark if there are too many.
    void thin();

    std::vector<Mark> marks_;
};

/// Whether two motions took equally long between the places where both were noted, `from` on.
[[nodiscard]] bool alike(const PastMotion& one, const PastMotion& other, double from);

}  // namespace switchfold
