// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/meeting.h"

#include <algorithm>
#include <cstddef>

namespace switchfold::elastic {

std::vector<Time> ring_all_gather(const std::vector<Time>& arrivals, Time step) {
    std::vector<Time> now = arrivals;
    std::vector<Time> next(now.size());
    const std::size_t ranks = now.size();
    for (std::size_t done = 1; done < ranks; ++done) {
        for (std::size_t rank = 0; rank < ranks; ++rank)
            next[rank] = std::max(now[rank], now[(rank + ranks - 1) % ranks] + step);
        now.swap(next);
    }
    return now;
}

std::vector<Time> connect_rings(
    const Placement& placement, const std::vector<Time>& arrivals, const ConnectionCosts& costs) {
    std::vector<Time> made = arrivals;  // end of the host work so far
    std::vector<Time> there = arrivals;
    if (placement.members() < 2)
        return there;
    std::vector<Time> received(made.size());
    for (std::uint32_t channel = 0; channel < placement.channels; ++channel) {
        const std::vector<std::uint32_t>& ring = placement.rings[channel % placement.rings.size()];
        const auto cost = [&](std::uint32_t from, std::uint32_t to) {
            return placement.machine_of[from] == placement.machine_of[to] ? costs.in_machine
                                                                          : costs.network;
        };
        const std::size_t ranks = ring.size();
        for (std::size_t i = 0; i < ranks; ++i) {
            const std::uint32_t rank = ring[i];
            made[rank] += cost(ring[(i + ranks - 1) % ranks], rank);
            received[rank] = made[rank];
            made[rank] += cost(rank, ring[(i + 1) % ranks]);
        }
        for (std::size_t i = 0; i < ranks; ++i) {
            const std::uint32_t from = ring[i];
            const std::uint32_t to = ring[(i + 1) % ranks];
            const Time both = std::max(made[from], received[to]);
            there[from] = std::max(there[from], both);
            there[to] = std::max(there[to], both);
        }
    }
    return there;
}

}  // namespace switchfold::elastic
