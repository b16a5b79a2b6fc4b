// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/shortcuts/traffic_counts.h"

#include <optional>
#include <utility>
#include <vector>

namespace switchfold {

/// What the data of some collectives add to the counts: of the whole machine, or of the part of it
/// that they pass. Lists of counts are always in the same order.
class PartCounts {
public:
    explicit PartCounts(TrafficCounts& all) : all_(&all) {}
    PartCounts(TrafficCounts& all, TrafficPart part) : all_(&all), part_(std::move(part)) {}

    /// All counts so far.
    [[nodiscard]] std::vector<double> now() const;
    /// What they have grown by since they were `before`. Of a switch that others use too it is the
    /// share of packets that came to it over the part's links.
    [[nodiscard]] std::vector<double> since(const std::vector<double>& before) const;
    void add(const std::vector<double>& counts);

private:
    TrafficCounts* all_;
    std::optional<TrafficPart> part_;  ///< nothing: the whole machine
};

}  // namespace switchfold
