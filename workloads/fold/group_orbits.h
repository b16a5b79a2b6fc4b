// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold {

/// Groups of ranks that run the same collectives at the same time: the images of one group under a
/// symmetry of the workload.
struct GroupOrbit {
    /// Disjoint, each ascending, by their first ranks.
    std::vector<std::vector<std::uint32_t>> groups;
    std::uint32_t ranks = 0;   ///< the first so many are in a probe of whole groups
    std::uint32_t stride = 1;  ///< shorter groups consist of whole strides
    /// Groups that share no way to other machines with the first take as long as it beside it, and
    /// a probe lacks them.
    bool apart = false;
    std::uint32_t links = 1;  ///< as CollectiveOperation::given_links
};

/// Of groups on `machine` GPUs a machine, and `ranks` in all.
[[nodiscard]] GroupOrbit orbit_of_groups(
    std::vector<std::vector<std::uint32_t>> groups, std::uint32_t machine, std::uint32_t ranks);

/// Collectives of an orbit that differ in nothing but their bytes, and exchanges also in how late
/// peers are, in order of first use: only a part of an exchange waits for them.
struct CollectiveFamily {
    struct Call {
        Bytes bytes;
        Time peers_late;
        bool operator==(const Call&) const = default;
    };
    std::uint32_t orbit = 0;
    CollectiveOperation operation;  ///< without what tells one use from another
    std::vector<Call> calls;
};

/// Orbits on a machine, and graphs that measure their collectives.
class GroupOrbits {
public:
    /// `machine`: ranks per machine. `ways`: by GPU of a machine, the number of its way to others;
    /// those of one number share links. Empty: all may share.
    GroupOrbits(std::uint32_t machine, std::vector<std::uint32_t> ways);

    /// \returns its number.
    std::uint32_t add(GroupOrbit orbit);
    [[nodiscard]] const GroupOrbit& at(std::uint32_t orbit) const { return orbits_.at(orbit); }
    [[nodiscard]] const std::vector<std::uint32_t>& first_group(std::uint32_t orbit) const {
        return at(orbit).groups.front();
    }
    /// Over how many machines these ranks lie.
    [[nodiscard]] std::uint32_t machines_of(const std::vector<std::uint32_t>& ranks) const;
    /// The fewest ranks, more than `above`, that are on whole machines and in whole strides.
    [[nodiscard]] std::uint32_t whole_ranks(std::uint32_t orbit, std::uint32_t above) const;

    /// Runs collectives of a family one after another on the first `ranks` ranks, in all groups
    /// that do so at the same time. A group of which only some ranks are among them has as many
    /// bytes a rank as the whole. On each rank the operation of number 2 i + 1 is collective i, and
    /// those before and after are marks.
    [[nodiscard]] ExecutionGraph probe(
        const CollectiveFamily& family, const std::vector<std::size_t>& which,
        std::uint32_t ranks) const;

private:
    /// By group: whether a probe has it.
    [[nodiscard]] std::vector<bool> taking_part(const GroupOrbit& orbit, std::uint32_t ranks) const;

    std::uint32_t machine_;
    std::vector<std::uint32_t> ways_;
    std::vector<GroupOrbit> orbits_;
};

}  // namespace switchfold
