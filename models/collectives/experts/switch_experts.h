// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/experts/experts_base.h"
#include "models/collectives/experts/group_tables.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

/// A study, of which nothing is measured: the switches copy tokens on their way to their experts
/// and add what comes back. Each set of destinations is a multicast group of its own. The switches
/// hold the most popular ones, as many as their tables or the policy allow; the tokens of the
/// others go as if there were no such switch, a copy for each destination. The groups are taken to
/// be there when the exchange begins. Tokens lie at the same place on every rank, in the order of
/// their senders, where the experts' products read them: nothing is copied again.
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
        const CollectiveEnvironment& environment,
        const CollectiveSpec& spec,
        MemberListener& listener);

    /// Takes groups: after whoever ran before has given back its own.
    void begin(Time start) final;
    /// Groups are known; blocks may move data from `at` (ps) on.
    virtual void begin_blocks(std::uint64_t at) = 0;
    /// The switches' group of a token's destinations; null if they have none.
    [[nodiscard]] const ReductionGroup* group_of(std::uint32_t from, std::uint32_t token) const {
        const std::uint32_t set = tables_.set_of(from, token);
        return set < groups_.size() ? groups_[set].get() : nullptr;
    }
    /// A member's place in a group.
    [[nodiscard]] static std::uint32_t
    member_of(const ReductionGroup& group, std::uint32_t global_rank);
    [[nodiscard]] std::uint32_t position_of(std::uint32_t global_rank) const;
    [[nodiscard]] const Connection& route(std::uint32_t from, std::uint32_t to) {
        return fabric_.connect(spec_.ranks[from], spec_.ranks[to]);
    }
    /// All that a rank had to do is done at `at` (ps) and others hear of it; a rank whose peers are
    /// all done is done.
    void rank_done(std::uint32_t position, std::uint64_t at);
    /// An event of a tag below kFlag.
    virtual void on_stage(std::uint64_t tag) = 0;
    void post(std::uint64_t tag, std::uint64_t at) {
        scheduler_.at(Time(std::max(at, now())), *this, tag);
    }
    static constexpr std::uint64_t kFlag = 1ULL << 63U;

    const GroupTables tables_;
    std::uint32_t blocks_;
    std::uint32_t warps_;
    std::uint32_t largest_;  ///< bytes of a packet

private:
    void on_event(std::uint64_t tag) override;

    std::vector<std::unique_ptr<ReductionGroup>> groups_;  ///< of the first sets
    std::string refused_;                                  ///< why there are no more
    std::vector<bool> finished_;                           ///< by rank
};

[[nodiscard]] std::unique_ptr<RunningCollective>
make_switch_dispatch(const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&);
[[nodiscard]] std::unique_ptr<RunningCollective>
make_switch_combine(const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&);

}  // namespace switchfold
