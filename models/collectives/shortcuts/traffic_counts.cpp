// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/traffic_counts.h"

namespace switchfold {

void TrafficCounts::repeat(double times) {
    const std::vector<std::uint64_t> now = simulated();
    std::vector<double> since;
    for (std::size_t i = 0; i < now.size(); ++i)
        since.push_back(static_cast<double>(now[i] - marked_[i]));
    add(since, times);
}

std::vector<double> TrafficCounts::all() const {
    const std::vector<std::uint64_t> now = simulated();
    std::vector<double> counts(now.begin(), now.end());
    for (std::size_t i = 0; i < left_out_.size(); ++i)
        counts[i] += left_out_[i];
    return counts;
}

void TrafficCounts::add(const std::vector<double>& counts, double times) {
    left_out_.resize(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i)
        left_out_[i] += counts[i] * times;
}

void TrafficCounts::add(const std::vector<Count>& counts) {
    if (left_out_.empty() && !counts.empty())
        left_out_.resize(simulated().size());
    for (const Count& count : counts)
        left_out_[count.index] += count.value;
}

}  // namespace switchfold
