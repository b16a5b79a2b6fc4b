// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/part_counts.h"

#include <cstddef>
#include <cstdint>

namespace switchfold {

std::vector<double> PartCounts::now() const {
    if (!part_)
        return all_->all();
    const std::vector<std::uint64_t> simulated = all_->simulated_in(*part_);
    std::vector<double> counts(simulated.begin(), simulated.end());
    if (const std::vector<double>& left_out = all_->left_out(); !left_out.empty())
        for (std::size_t i = 0; i < counts.size(); ++i)
            counts[i] += left_out[part_->places[i]];
    return counts;
}

std::vector<double> PartCounts::since(const std::vector<double>& before) const {
    std::vector<double> counts = now();
    for (std::size_t i = 0; i < counts.size(); ++i)
        counts[i] -= before[i];
    if (!part_)
        return counts;
    for (const TrafficPart::Shared& shared : part_->shared) {
        const double all = counts[shared.packets];
        double own = 0;
        for (const std::size_t packets : shared.came_over)
            own += counts[packets];
        for (std::size_t i = 0; i < shared.size; ++i)
            counts[shared.first + i] *= all > 0 ? own / all : 0;
    }
    return counts;
}

void PartCounts::add(const std::vector<double>& counts) {
    if (!part_)
        return all_->add(counts, 1);
    std::vector<TrafficCounts::Count> there;
    there.reserve(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i)
        there.push_back({part_->places[i], counts[i]});
    all_->add(there);
}

}  // namespace switchfold
