// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/group_collective.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace switchfold {

/// What pull and push have in common: a group in the switches, and members that work in channels.
class InSwitchCollective : public GroupCollective {
protected:
    InSwitchCollective(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::unique_ptr<ReductionGroup> group) :
        GroupCollective(environment, spec, listener, std::move(group)),
        params_(environment.params),
        registered_(spec.choice.of<NcclChoice>().registered),
        end_(spec.ranks.size()),
        running_(spec.ranks.size()) {}

    /// A member joins with so many channels that have work; with none it is done.
    void begin(std::uint32_t position, Time start, std::uint32_t channels) {
        end_[position] = start;
        running_[position] = channels;
        make_room(position);
        if (channels == 0)
            listener_.on_member_done(position, start);
    }
    /// One of a member's channels has everything, now.
    void end_channel(std::uint32_t position) {
        end_[position] = std::max(end_[position], scheduler_.now());
        if (--running_[position] == 0)
            listener_.on_member_done(position, end_[position]);
    }

    const CollectiveParams& params_;
    bool registered_;
    std::vector<Time> end_;               ///< by member
    std::vector<std::uint32_t> running_;  ///< channels that a member still works on
};

}  // namespace switchfold
