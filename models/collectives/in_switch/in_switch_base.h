// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/running_collective.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// What pull and push have in common: the group in the switches, the numbers, and giving up when a
/// reduction unit reports a time-out.
class InSwitchCollective : public RunningCollective, protected PacketClient {
public:
    ~InSwitchCollective() override {
        fabric_.remove_client(client_);
        fabric_.remove_group(*group_);
    }
    InSwitchCollective(const InSwitchCollective&) = delete;
    InSwitchCollective& operator=(const InSwitchCollective&) = delete;
    InSwitchCollective(InSwitchCollective&&) = delete;
    InSwitchCollective& operator=(InSwitchCollective&&) = delete;

    void abandon() override {
        abandoned_ = true;
        fabric_.flush_group(*group_);
    }
    [[nodiscard]] bool uses(const Link& link) const override { return group_->uses(link); }
    [[nodiscard]] std::vector<std::vector<float>>& buffers() override { return buffers_; }

protected:
    InSwitchCollective(
        const CollectiveEnvironment& environment,
        const CollectiveSpec& spec,
        MemberListener& listener,
        std::unique_ptr<ReductionGroup> group) :
        fabric_(environment.fabric),
        scheduler_(environment.fabric.scheduler()),
        ports_(environment.ports),
        params_(environment.params),
        spec_(spec),
        listener_(listener),
        group_(std::move(group)),
        client_(environment.fabric.add_client(*this)),
        n_(static_cast<std::uint32_t>(spec.ranks.size())),
        functional_(environment.functional),
        registered_(spec.choice.registered),
        end_(spec.ranks.size()),
        running_(spec.ranks.size()) {
        if (functional_) {
            buffers_.resize(n_);
            results_.resize(n_);
        }
    }

    /// A member joins with so many channels that have work; with none it is done.
    void begin(std::uint32_t position, Time start, std::uint32_t channels) {
        end_[position] = start;
        running_[position] = channels;
        if (functional_)
            results_[position].resize(buffers_[position].size());
        if (channels == 0)
            listener_.on_member_done(position, start);
    }
    /// One of a member's channels has everything, now.
    void end_channel(std::uint32_t position) {
        end_[position] = std::max(end_[position], scheduler_.now());
        if (--running_[position] > 0)
            return;
        if (functional_)
            buffers_[position] = results_[position];
        listener_.on_member_done(position, end_[position]);
    }
    [[nodiscard]] std::uint32_t position_of(std::uint32_t rank) const {
        if (rank < n_ && spec_.ranks[rank] == rank)
            return rank;  // of a group of all
        const auto at = std::lower_bound(spec_.ranks.begin(), spec_.ranks.end(), rank);
        return static_cast<std::uint32_t>(at - spec_.ranks.begin());
    }
    RankPort& port(std::uint32_t position) { return *ports_[spec_.ranks[position]]; }
    /// Functional mode: a handle of a member's own numbers; else 0.
    std::uint32_t own_values(std::uint32_t position, std::uint64_t offset, std::uint32_t bytes) {
        if (!functional_)
            return 0;
        return fabric_.values().put_part(
            buffers_[position], offset / spec_.element_bytes, bytes / spec_.element_bytes);
    }
    /// Functional mode: puts a sum's numbers where they belong and drops the handle.
    void keep_values(std::uint32_t position, std::uint64_t offset, std::uint32_t handle) {
        if (functional_)
            fabric_.values().take(handle, results_[position], offset / spec_.element_bytes);
    }

    Fabric& fabric_;
    Scheduler& scheduler_;
    const std::vector<RankPort*>& ports_;
    const CollectiveParams& params_;
    CollectiveSpec spec_;
    MemberListener& listener_;
    std::unique_ptr<ReductionGroup> group_;
    std::uint32_t client_;
    std::uint32_t n_;
    bool functional_;
    bool registered_;
    bool abandoned_ = false;
    std::vector<Time> end_;               ///< by member
    std::vector<std::uint32_t> running_;  ///< channels that a member still works on
    std::vector<std::vector<float>> buffers_;
    std::vector<std::vector<float>> results_;
};

/// What a failed unit's word means to the collective.
inline constexpr const char* kUnitTimedOut = "a reduction unit timed out";

}  // namespace switchfold
