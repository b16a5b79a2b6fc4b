// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace switchfold {

/// Ranks that communicate with each other and with no others, as sets that grow together.
class RankSets {
public:
    explicit RankSets(std::size_t ranks);
    void join(std::uint32_t rank, std::uint32_t other);
    [[nodiscard]] std::uint32_t first_of(std::uint32_t rank);
    /// Each ascending, by their first ranks.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> all();

private:
    std::vector<std::uint32_t> joined_to_;  ///< by rank: a lower one of its set, or itself
};

/// Who of a graph's ranks tells whom.
struct Contacts {
    std::vector<std::uint32_t> groups;  ///< whose collectives move data or wait for their ranks
    std::vector<std::pair<std::uint32_t, std::uint32_t>> messages;  ///< sender and receiver
    /// Per rank and group at most so many streams have collectives of it.
    std::uint32_t streams = 0;
};
/// Nothing where ranks are tied by more than that: by a host thread or its memory, by exchanges of
/// unequal parts or tokens, or where they stand for others.
[[nodiscard]] std::optional<Contacts> contacts_of(const ExecutionGraph& graph);

/// Compares what sets of ranks do, rank by rank in their order.
class SameWork {
public:
    explicit SameWork(const ExecutionGraph& graph) : graph_(graph) {}
    /// Whether the set does what the other does, among themselves. Names may differ.
    [[nodiscard]] bool
    of(const std::vector<std::uint32_t>& set, const std::vector<std::uint32_t>& other);
    /// Of the last two: the other's group for each of the set's that has been met.
    [[nodiscard]] const std::map<std::uint32_t, std::uint32_t>& group_images() const {
        return group_image_;
    }

private:
    [[nodiscard]] bool of(const RankGraph& rank, const RankGraph& other);
    [[nodiscard]] bool of(const OperationBody& body, const OperationBody& other);
    [[nodiscard]] bool of_groups(std::uint32_t group, std::uint32_t other);

    const ExecutionGraph& graph_;
    std::map<std::uint32_t, std::uint32_t> rank_image_;
    std::map<std::uint32_t, std::uint32_t> group_image_;
};

}  // namespace switchfold
