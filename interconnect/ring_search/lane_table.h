// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold {

/// Members of a group in the order in which their data go round; the last sends to the first.
using Ring = std::vector<std::uint32_t>;

/// The lanes of direct links between the members of a group, by direction. Searches for rings take
/// lanes and give them back.
class LaneTable {
public:
    struct Lane {
        std::uint32_t to;
        std::uint32_t left;  ///< lanes not taken
    };

    explicit LaneTable(std::size_t members) : from_(members) {}

    /// Adds lanes in both directions.
    void join(std::uint32_t a, std::uint32_t b, std::uint32_t lanes);

    [[nodiscard]] std::size_t size() const { return from_.size(); }
    /// In the order of members; those without lanes left stay.
    [[nodiscard]] const std::vector<Lane>& of(std::uint32_t from) const { return from_[from]; }
    /// 0 as well if no link joins them.
    [[nodiscard]] std::uint32_t left(std::uint32_t from, std::uint32_t to) const;
    /// Whether a link joins them, even if all its lanes are taken.
    [[nodiscard]] bool direct(std::uint32_t from, std::uint32_t to) const;
    /// Upper bound on the number of rings: each takes a lane out of every member.
    [[nodiscard]] std::size_t most_rings() const;

    /// \returns false, without a change, if none is left.
    bool take(std::uint32_t from, std::uint32_t to);
    void give_back(std::uint32_t from, std::uint32_t to);
    /// A lane of each hop of the ring, which must be left.
    void take(const Ring& ring);
    void give_back(const Ring& ring);

private:
    void add(std::uint32_t from, std::uint32_t to, std::uint32_t lanes);

    std::vector<std::vector<Lane>> from_;
};

/// The same ring in the other direction, from the same member.
[[nodiscard]] Ring reversed(Ring ring);

}  // namespace switchfold
