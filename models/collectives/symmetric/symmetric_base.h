// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/running_collective.h"
#include "models/collectives/symmetric/symmetric_work.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// What kernels on symmetric memory have in common: blocks of workers that take piece after piece,
/// on the users' own buffers.
class SymmetricBase : public RunningCollective, protected PacketClient, protected EventHandler {
public:
    ~SymmetricBase() override {
        fabric_.remove_client(client_);
        if (group_)
            fabric_.remove_group(*group_);
    }
    SymmetricBase(const SymmetricBase&) = delete;
    SymmetricBase& operator=(const SymmetricBase&) = delete;
    SymmetricBase(SymmetricBase&&) = delete;
    SymmetricBase& operator=(SymmetricBase&&) = delete;

    void join(std::uint32_t position, Time start) override;
    void abandon() override;
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override { return {}; }
    [[nodiscard]] bool uses(const Link& link) const override {
        return group_ && group_->uses(link);
    }
    [[nodiscard]] std::vector<std::vector<float>>& buffers() override { return buffers_; }
    [[nodiscard]] std::vector<std::vector<float>>& results() override { return results_; }

protected:
    /// `group`: of kernels through the switch.
    SymmetricBase(
        const CollectiveEnvironment& environment,
        const CollectiveSpec& spec,
        MemberListener& listener,
        std::unique_ptr<ReductionGroup> group);

    /// A worker's piece, counted from the begin of the whole work; none: it has nothing.
    struct Task {
        std::uint64_t number = 0;  ///< of its pieces so far
        Part piece;
    };
    /// Takes the worker's next piece. \returns whether there is one.
    bool take(std::uint32_t worker, Task& task);
    virtual void begin_block(std::uint32_t block) = 0;
    /// A block moves nothing more, from `end` on.
    void end_block(std::uint32_t block, Time end);

    /// Blocks and workers are numbered through, position after position.
    [[nodiscard]] std::uint32_t first_worker(std::uint32_t block) const {
        return block * work_.workers();
    }
    [[nodiscard]] std::uint32_t block_of(std::uint32_t worker) const {
        return worker / work_.workers();
    }
    [[nodiscard]] std::uint32_t position_of_block(std::uint32_t block) const {
        return block / spec_.choice.channels;
    }
    [[nodiscard]] std::uint32_t position_of_worker(std::uint32_t worker) const {
        return position_of_block(block_of(worker));
    }
    /// The like worker of another rank.
    [[nodiscard]] std::uint32_t like(std::uint32_t worker, std::uint32_t position) const {
        const std::uint32_t of_rank = spec_.choice.channels * work_.workers();
        return position * of_rank + worker % of_rank;
    }
    [[nodiscard]] std::uint32_t position_of(std::uint32_t rank) const {
        const auto at = std::lower_bound(spec_.ranks.begin(), spec_.ranks.end(), rank);
        return static_cast<std::uint32_t>(at - spec_.ranks.begin());
    }
    RankPort& port(std::uint32_t position) { return *ports_[spec_.ranks[position]]; }
    const Connection& way(std::uint32_t from, std::uint32_t to) {
        return fabric_.connect(spec_.ranks[from], spec_.ranks[to]);
    }
    /// Where in the buffers a rank's share begins; all of them where ranks share the work.
    [[nodiscard]] std::uint64_t share_of(std::uint32_t position) const {
        return spec_.kind == CollectiveKind::kAllReduce ? 0 : position * share_;
    }
    /// When loads of so many bytes of the own memory have come.
    [[nodiscard]] Time load_own(std::uint32_t position, std::uint64_t bytes) {
        const Time served = port(position).access(bytes, 0);
        return std::max(served, scheduler_.now() + params_.load_latency);
    }
    /// Functional mode: a handle of a member's numbers; else 0.
    [[nodiscard]] std::uint32_t
    values_of(std::uint32_t position, std::uint64_t offset, std::uint64_t bytes) {
        return functional_ ? fabric_.values().put_part(
                                 buffers_[position],
                                 offset / spec_.element_bytes,
                                 bytes / spec_.element_bytes)
                           : 0;
    }
    /// Functional mode: numbers become a member's result.
    void keep(std::uint32_t position, std::uint64_t offset, std::uint32_t handle) {
        if (handle != 0)
            fabric_.values().take(handle, results_[position], offset / spec_.element_bytes);
    }

    Fabric& fabric_;
    Scheduler& scheduler_;
    const std::vector<RankPort*>& ports_;
    const SymmetricParams& params_;
    CollectiveSpec spec_;
    MemberListener& listener_;
    std::unique_ptr<ReductionGroup> group_;
    std::uint32_t client_;
    std::uint32_t n_;
    std::uint32_t unit_;  ///< most bytes of a packet
    SymmetricMove move_;
    std::uint64_t share_;  ///< bytes of a rank's part of reduce-scatter and all-gather
    SymmetricWork work_;
    bool functional_;
    bool abandoned_ = false;
    std::vector<std::vector<float>> buffers_;
    std::vector<std::vector<float>> results_;

private:
    std::vector<std::uint32_t> running_;  ///< blocks, by position
    std::vector<Time> end_;               ///< by position
};

/// Kernels that load and store whole words, between two barriers; kernels that store lines of data
/// and flags.
[[nodiscard]] std::unique_ptr<RunningCollective> make_word_collective(
    const CollectiveEnvironment&,
    const CollectiveSpec&,
    MemberListener&,
    std::unique_ptr<ReductionGroup>);
[[nodiscard]] std::unique_ptr<RunningCollective> make_line_collective(
    const CollectiveEnvironment&,
    const CollectiveSpec&,
    MemberListener&,
    std::unique_ptr<ReductionGroup>);

}  // namespace switchfold
