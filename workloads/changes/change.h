// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::changes {

/// How members come and go; docs/elastic.md has who waits for what.
enum class Method : std::uint8_t {
    kRestart,    ///< checkpoint, new processes for all
    kReconnect,  ///< processes live on; a new communicator and a broadcast
    kJoin,       ///< joiners are prepared beside training and get the state within a step
    kLeave,      ///< members go at a boundary
    kFailure,    ///< members are gone; the others abort and go on
};

/// After a number of steps, or at a time.
struct Moment {
    std::optional<std::uint64_t> step;
    Time time;  ///< where there is no step
};

/// So many GPUs, or these.
struct Gpus {
    std::uint32_t count = 0;  ///< where no rank is named
    std::vector<std::uint32_t> ranks;
    [[nodiscard]] bool none() const { return count == 0 && ranks.empty(); }
};

/// A change as it is asked for.
struct Change {
    Moment at;
    Gpus add;
    Gpus remove;
    Method method = Method::kRestart;
    Time notice;                         ///< of a leave: that much before
    bool announced = false;              ///< of a reconnect: joiners have started beside training
    bool died = false;                   ///< those that are removed are gone, whatever the method
    std::optional<std::size_t> written;  ///< its place among those that were asked for; none: made
};

/// Who trains, ascending.
using Members = std::vector<std::uint32_t>;

/// The members after a change, and who came and went.
struct Step {
    Members members;  ///< after it
    Members added;
    Members removed;
};

/// What is wrong: a pointer below the list of changes ("/2/remove") and a sentence.
using ChangeProblems = std::vector<std::pair<std::string, std::string>>;

/// Follows changes from the first members on. A number of GPUs to add are the lowest that do not
/// train and have not died; of GPUs to remove, the highest members. Adds everything that is wrong
/// to `problems`: ranks that are not there, more than the machine has, nobody left, methods that
/// cannot do it, changes out of order.
[[nodiscard]] std::vector<Step> follow_changes(
    const Members& first,
    const std::vector<Change>& changes,
    std::uint32_t gpus,
    ChangeProblems& problems);

}  // namespace switchfold::changes
