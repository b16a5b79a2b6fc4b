// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/experts/experts_base.h"
#include "models/collectives/experts/group_tables.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

/// A study without measurements to compare with: switches replicate tokens on their way to the
/// experts and reduce the returning copies. Each set of destinations is a multicast group. The
/// switches hold the most frequent sets, as many as their tables or the policy allow; all other
/// tokens are sent as separate copies to each destination. Groups are assumed to exist when the
/// exchange begins. Tokens have the same address on every rank, ordered by sender, where the
/// experts' products read them, so nothing is copied again.
class SwitchExperts : public ExpertsCollective {
public:
    ~SwitchExperts() override;
    SwitchExperts(const SwitchExperts&) = delete;
    SwitchExperts& operator=(const SwitchExperts&) = delete;
    SwitchExperts(SwitchExperts&&) = delete;
    SwitchExperts& operator=(SwitchExperts&&) = delete;

    [[nodiscard]] Bytes footprint() const override { return Bytes(0); }
    [[nodiscard]] bool uses(const Link& link) const override;
    [[nodiscard]] std::string note() const override;
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;

protected:
    SwitchExperts(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener);

    /// Creates the groups, after earlier exchanges have released theirs.
    void begin(Time start) final;
    /// Groups exist; blocks may move data from `at` (ps) on.
    virtual void begin_blocks(std::uint64_t at) = 0;
    /// The switches' group for a token's destinations; null if they have none.
    [[nodiscard]] const ReductionGroup* group_of(std::uint32_t from, std::uint32_t token) const {
        const std::uint32_t set = tables_.set_of(from, token);
        return set < groups_.size() ? groups_[set].get() : nullptr;
    }
    /// A member's index in a group.
    [[nodiscard]] static std::uint32_t
    member_of(const ReductionGroup& group, std::uint32_t global_rank);
    [[nodiscard]] std::uint32_t position_of(std::uint32_t global_rank) const;
    [[nodiscard]] const Connection& route(std::uint32_t from, std::uint32_t to) {
        return fabric_.connect(spec_.ranks[from], spec_.ranks[to]);
    }
    /// A rank's work is done at `at` (ps), and the others are notified; a rank has finished when
    /// all its peers are done.
    void rank_done(std::uint32_t position, std::uint64_t at);
    /// An event with a tag below kFlag.
    virtual void on_stage(std::uint64_t tag) = 0;
    void post(std::uint64_t tag, std::uint64_t at) {
        scheduler_.at(Time(std::max(at, now())), *this, tag);
    }
    static constexpr std::uint64_t kFlag = 1ULL << 63U;

    const GroupTables tables_;
    std::uint32_t blocks_;
    std::uint32_t warps_;
    std::uint32_t largest_;  ///< limit on the bytes of a packet

private:
    void on_event(std::uint64_t tag) override;

    std::vector<std::unique_ptr<ReductionGroup>> groups_;  ///< for the most frequent sets
    std::string refused_;                                  ///< reason why there are no more
    std::vector<bool> finished_;                           ///< by rank
};

[[nodiscard]] std::unique_ptr<RunningCollective>
make_switch_dispatch(const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&);
[[nodiscard]] std::unique_ptr<RunningCollective>
make_switch_combine(const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&);

}  // namespace switchfold
