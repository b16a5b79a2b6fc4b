// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::elastic {

/// How members join and leave; docs/elastic.md lists who waits for what.
enum class Method : std::uint8_t {
    kRestart,    ///< checkpoint, then new processes for all
    kReconnect,  ///< processes survive; new communicator and a broadcast
    kJoin,       ///< joiners are prepared beside training and receive the state within a step
    kLeave,      ///< members leave at a step boundary
    kFailure,    ///< members die; the others abort and continue
};

/// After a number of steps, or at a time.
struct Moment {
    std::optional<std::uint64_t> step;
    Time time;  ///< used if there is no step
};

/// A number of GPUs, or specific ones.
struct Gpus {
    std::uint32_t count = 0;  ///< used if no ranks are given
    std::vector<std::uint32_t> ranks;
    [[nodiscard]] bool none() const { return count == 0 && ranks.empty(); }
};

/// A requested change.
struct Change {
    Moment at;
    Gpus add;
    Gpus remove;
    Method method = Method::kRestart;
    Time notice;                         ///< for a leave: announced this much earlier
    bool announced = false;              ///< for a reconnect: joiners have started beside training
    bool died = false;                   ///< removed members are dead, whatever the method
    std::optional<std::size_t> written;  ///< its index among the requested changes; none: generated
};

/// Training members, ascending; members of one GPU each are its ranks (member_gpus.h).
using Members = std::vector<std::uint32_t>;

class MemberGpus;

/// The members after a change, and those that joined and left.
struct Step {
    Members members;  ///< after the change
    Members added;
    Members removed;
};

/// Problems: a pointer below the list of changes ("/2/remove") and a sentence.
using ChangeProblems = std::vector<std::pair<std::string, std::string>>;

/// Applies changes one after another to the first members. A number of GPUs to add takes the lowest
/// members that neither train nor have died; a number to remove takes the highest ones. A GPU that
/// dies takes its member with it. Adds everything wrong to `problems`: ranks that do not exist or
/// exceed the machine, parts of members, nobody left, unsuitable methods, changes out of order.
[[nodiscard]] std::vector<Step> follow_changes(
    const Members& first, const std::vector<Change>& changes, const MemberGpus& gpus,
    ChangeProblems& problems);

}  // namespace switchfold::elastic
