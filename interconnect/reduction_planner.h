// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/adjacency.h"
#include "interconnect/reduction_tree.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// Plans the trees of one group after another, as plan_reduction() does of one: a group costs as
/// much as the part of the machine that its trees may lie in, not as much as the whole. The
/// topology, as it was at construction, outlives it.
class ReductionPlanner {
public:
    explicit ReductionPlanner(const Topology& topology);
    /// With neighbours that others hold, and that outlive it as well.
    ReductionPlanner(const Topology& topology, const Adjacency& neighbours);
    ~ReductionPlanner() = default;
    ReductionPlanner(const ReductionPlanner&) = delete;
    ReductionPlanner& operator=(const ReductionPlanner&) = delete;
    ReductionPlanner(ReductionPlanner&&) = delete;
    ReductionPlanner& operator=(ReductionPlanner&&) = delete;

    [[nodiscard]] ReductionPlan plan(std::span<const std::uint32_t> ranks);
    [[nodiscard]] std::string why_not(std::span<const std::uint32_t> ranks) {
        return plan(ranks).why_not;
    }

private:
    /// What a search from one node has reached, and how.
    struct Reached {
        std::vector<std::uint32_t> depth;       ///< by node; kNone where it has not been
        std::vector<std::uint32_t> parent_hop;  ///< by node, towards where it began
        std::vector<std::uint32_t> touched;
    };
    [[nodiscard]] const SwitchParams& params(std::uint32_t node) const;
    [[nodiscard]] bool is_gpu(std::uint32_t node) const;
    [[nodiscard]] bool belongs(std::uint32_t node) const;
    [[nodiscard]] bool can_reduce(std::uint32_t node) const;
    void prepare();
    ReductionPlan plan_trees();
    void restart(Reached& reached, std::uint32_t root) const;
    std::vector<std::uint32_t> next_level(
        Reached& reached, const std::vector<std::uint32_t>& level, std::uint32_t height,
        std::size_t turn) const;
    std::optional<std::uint32_t> grow(std::uint32_t root, std::uint32_t limit, std::size_t turn);
    ReductionTree build(std::uint32_t root);
    void count_answers(ReductionTree& tree) const;
    [[nodiscard]] std::string fault_of(const ReductionTree& tree) const;
    [[nodiscard]] std::string why_none() const;

    const Topology& topology_;
    Adjacency own_;
    const Adjacency* neighbours_;
    bool none_ = false;  ///< no switch at all
    std::span<const std::uint32_t> ranks_;
    std::vector<std::uint32_t> member_;  ///< by node: its place among the ranks, or kNone
    std::vector<std::uint32_t> place_;   ///< by node: its place in the tree being built, or kNone
    Reached from_first_;                 ///< from the first member, for roots by distance
    Reached tree_;
};

}  // namespace switchfold
