// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <utility>
#include <vector>

namespace switchfold {

[[nodiscard]] bool is_gpu(const RankGraph& rank, const Operation& operation);
[[nodiscard]] bool is_collective(const Operation& operation);
[[nodiscard]] bool is_message(const Operation& operation);
/// A send or receive that nothing matches: it takes its traced time, and is no collective.
[[nodiscard]] bool is_held_message(const Operation& operation);
/// Any of the three.
[[nodiscard]] bool communicates(const Operation& operation);

/// A topological order of one rank, taken operation by operation, that prefers work that needs no
/// collective. A step's GPU work waits for the collectives of all steps before it, even without a
/// known dependency.
class SerialOrder {
public:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    /// `messages_meet`: sends and receives are taken like collectives, by the caller; otherwise as
    /// soon as the rank can.
    SerialOrder(const RankGraph& rank, bool messages_meet);

    /// Takes the next operation that needs no collective; kNone if there is none.
    std::uint32_t next_own();
    /// Takes GPU work of a step that has not begun: for when a collective waits for it, so that the
    /// steps cannot be kept apart. kNone if there is none, or if it is a message to be taken.
    std::uint32_t next_of_later_step();
    /// The step of that work; kNone if there is none.
    [[nodiscard]] std::uint32_t later_step() const;
    /// Collectives, and messages that meet, which can be taken.
    [[nodiscard]] const std::set<std::uint32_t>& takeable() const { return takeable_; }
    void take(std::uint32_t operation);
    /// Those that have become takeable since the last call.
    [[nodiscard]] std::vector<std::uint32_t> newly_takeable() { return std::exchange(new_, {}); }
    [[nodiscard]] bool done() const { return left_ == 0; }

private:
    using LowestFirst =
        std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;

    void find_successors();
    void release(std::uint32_t i);
    void offer(std::uint32_t i);
    void finish(std::uint32_t i);
    [[nodiscard]] bool meets(std::uint32_t i) const;

    const RankGraph& rank_;
    bool messages_meet_;
    std::size_t left_;
    std::vector<std::uint32_t> waiting_;
    std::vector<std::uint32_t> first_successor_;  ///< by operation, and the end
    std::vector<std::uint32_t> successors_;
    std::map<std::uint32_t, std::uint32_t> unfinished_;  ///< number of collectives, by step
    LowestFirst own_;
    LowestFirst later_;  ///< work of steps that have not begun
    std::set<std::uint32_t> takeable_;
    std::vector<std::uint32_t> new_;
};

}  // namespace switchfold
