// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "models/collectives/shortcuts/recorded_collective.h"

#include <vector>

namespace switchfold {

/// Whether members of collectives like each other end as far apart as they came. In a ring each
/// takes about as long, whoever comes first; in a switch all wait for the last. Pure logic.
class CarriedOffsets {
public:
    void add(const RecordedCollective& run);
    [[nodiscard]] bool carried() const;
    /// Most by which members may come apart for that.
    [[nodiscard]] static Time most_apart(const RecordedCollective& run);
    /// What members are told who come so long before the last, by position. \pre carried()
    [[nodiscard]] RecordedCollective
    moved(RecordedCollective run, const std::vector<Time>& lags) const;
    /// The same of members who come nearly as those of the run did: how its own ended apart for
    /// other reasons remains.
    [[nodiscard]] RecordedCollective
    shifted(RecordedCollective run, const std::vector<Time>& lags) const;

private:
    double apart_ = 0;     ///< us^2: sum of the squares of distances from the mean, on coming
    double together_ = 0;  ///< of the products of these and those on ending
};

}  // namespace switchfold
