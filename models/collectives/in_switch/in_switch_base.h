// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/group_collective.h"
#include "models/collectives/in_switch/in_switch_steps.h"

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
        registered_(spec.choice.of<NcclConfig>().registered),
        format_(spec.format()),
        moved_(moved_bytes(format_)),
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

    /// Functional mode: a handle of what a member sends of its own; otherwise 0.
    std::uint32_t operands(std::uint32_t position, std::uint64_t offset, std::uint64_t bytes) {
        return functional_ ? sent_values(position, offset, bytes) : 0;
    }
    std::uint32_t sent_values(std::uint32_t position, std::uint64_t offset, std::uint64_t bytes);
    /// The next multiple of whole blocks.
    [[nodiscard]] std::uint64_t whole_blocks(std::uint64_t bytes) const {
        return (bytes + moved_.grain - 1) / moved_.grain * moved_.grain;
    }
    /// What buffers hold that switches read, and store to, where the user's would be as long.
    [[nodiscard]] Bytes both_buffers(std::uint64_t bytes) const {
        return Bytes(
            carried_bytes(bytes, format_.operands()) + carried_bytes(bytes, format_.sums()));
    }

    const CollectiveParams& params_;
    bool registered_;
    OperandFormat format_;
    MovedBytes moved_;
    std::vector<Time> end_;               ///< by member
    std::vector<std::uint32_t> running_;  ///< channels that a member still works on
};

}  // namespace switchfold
