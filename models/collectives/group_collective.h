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

/// Common part of collectives whose members access each other's memory: the switches' group, if
/// they use one, the values of functional mode, and aborting.
class GroupCollective : public RunningCollective, public Functional, protected PacketClient {
public:
    ~GroupCollective() override {
        fabric_.remove_client(client_);
        if (group_)
            fabric_.remove_group(*group_);
    }
    GroupCollective(const GroupCollective&) = delete;
    GroupCollective& operator=(const GroupCollective&) = delete;
    GroupCollective(GroupCollective&&) = delete;
    GroupCollective& operator=(GroupCollective&&) = delete;

    void abandon() override {
        abandoned_ = true;
        if (group_)
            fabric_.flush_group(*group_);
    }
    [[nodiscard]] bool uses(const Link& link) const override {
        return group_ && group_->uses(link);
    }
    [[nodiscard]] std::vector<std::vector<float>>& buffers() override { return buffers_; }
    [[nodiscard]] std::vector<std::vector<float>>& results() override { return results_; }

protected:
    /// `group`: null if the switches are not used.
    GroupCollective(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::unique_ptr<ReductionGroup> group) :
        fabric_(environment.fabric),
        scheduler_(environment.fabric.scheduler()),
        ports_(environment.ports),
        spec_(spec),
        listener_(listener),
        group_(std::move(group)),
        client_(environment.fabric.add_client(*this)),
        n_(static_cast<std::uint32_t>(spec.ranks.size())),
        functional_(environment.functional) {
        if (functional_) {
            buffers_.resize(n_);
            results_.resize(n_);
        }
    }

    /// Functional mode: allocates the member's result buffer.
    void make_room(std::uint32_t position) {
        if (functional_)
            results_[position].resize(buffers_[position].size());
    }
    [[nodiscard]] std::uint32_t position_of(std::uint32_t rank) const {
        if (rank < n_ && spec_.ranks[rank] == rank)
            return rank;  // for a group of all ranks
        const auto at = std::lower_bound(spec_.ranks.begin(), spec_.ranks.end(), rank);
        return static_cast<std::uint32_t>(at - spec_.ranks.begin());
    }
    RankPort& port(std::uint32_t position) { return *ports_[spec_.ranks[position]]; }
    [[nodiscard]] std::vector<RankPort*> ports_of_members() const {
        std::vector<RankPort*> ports;
        for (const std::uint32_t rank : spec_.ranks)
            ports.push_back(ports_[rank]);
        return ports;
    }
    const Connection& way(std::uint32_t from, std::uint32_t to) {
        return fabric_.connect(spec_.ranks[from], spec_.ranks[to]);
    }
    /// Functional mode: a handle of a member's own values; otherwise 0.
    std::uint32_t own_values(std::uint32_t position, std::uint64_t offset, std::uint64_t bytes) {
        if (!functional_)
            return 0;
        return fabric_.values().put_part(
            buffers_[position], offset / spec_.element_bytes, bytes / spec_.element_bytes);
    }
    /// Functional mode: stores values in a member's result and drops the handle.
    void keep_values(std::uint32_t position, std::uint64_t offset, std::uint32_t handle) {
        if (functional_)
            fabric_.values().take(handle, results_[position], offset / spec_.element_bytes);
    }

    Fabric& fabric_;
    Scheduler& scheduler_;
    const std::vector<RankPort*>& ports_;
    CollectiveSpec spec_;
    MemberListener& listener_;
    std::unique_ptr<ReductionGroup> group_;
    std::uint32_t client_;
    std::uint32_t n_;
    bool functional_;
    bool abandoned_ = false;
    std::vector<std::vector<float>> buffers_;
    std::vector<std::vector<float>> results_;
};

/// Why a collective gives up when a reduction unit fails.
inline constexpr const char* kUnitTimedOut = "a reduction unit timed out";

/// Constructs a collective, with a group if its algorithm uses the switches. Null, with the reason
/// in `refused`, if a switch has no room for it.
template <class Collective>
[[nodiscard]] std::unique_ptr<RunningCollective> make_group_collective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) {
    std::unique_ptr<ReductionGroup> group;
    if (reduces_in_switch(spec.choice.algorithm)) {
        group = environment.fabric.create_group(spec.ranks, spec.format(), refused);
        if (group == nullptr)
            return nullptr;
    }
    return std::make_unique<Collective>(environment, spec, listener, std::move(group));
}

}  // namespace switchfold
