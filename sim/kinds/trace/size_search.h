// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <cstdint>
#include <functional>
#include <map>

namespace switchfold {

/// Finds the sizes of transfers that take given times, in multiples of a grain. What one search
/// tries out serves the later ones. Longer transfers take longer, but for jumps where another
/// protocol begins, and large ones take time in proportion to their size.
class SizeSearch {
public:
    struct Found {
        Bytes size;
        Time time;           ///< of this size
        bool taken = false;  ///< it is the wanted time: within kNear, or within kJump where shorter
                             ///< transfers take less and longer ones more
        bool operator==(const Found&) const = default;
    };
    /// `time_of` tells the time of a size, and is asked a dozen times a search at most.
    SizeSearch(Bytes grain, std::function<Time(Bytes)> time_of);

    /// The size nearest in time, among those tried out: usually within kNear, and the least if that
    /// takes longer.
    [[nodiscard]] Found find(Time wanted);

    static constexpr double kNear = 0.01;  ///< of the wanted time
    /// Of the wanted time. A channel's loop more takes a few percent of some collectives.
    static constexpr double kJump = 0.02;
    [[nodiscard]] static bool near(Time time, Time wanted, double share = kNear);

private:
    void try_out(std::uint64_t grains);
    [[nodiscard]] Found nearest(Time wanted) const;

    Bytes grain_;
    std::function<Time(Bytes)> time_of_;
    std::map<std::uint64_t, Time> tried_;  ///< by grains
};

}  // namespace switchfold
