// SPDX-License-Identifier: Apache-2.0
#include "training/memory/accounting/liveness.h"

#include <algorithm>

namespace switchfold {

std::vector<std::uint64_t> live_bytes(const TensorUses& schedule) {
    const std::size_t steps = schedule.steps.size();
    std::vector<std::size_t> first(schedule.items.size(), steps);
    std::vector<std::size_t> last(schedule.items.size(), 0);
    for (std::size_t t = 0; t < steps; ++t)
        for (const ItemAccess& access : schedule.steps[t].open) {
            first[access.item] = std::min(first[access.item], t);
            last[access.item] = t;
        }
    std::vector<std::uint64_t> live(steps, schedule.resident_bytes);
    for (std::size_t i = 0; i < schedule.items.size(); ++i) {
        const MemoryItem& item = schedule.items[i];
        for (std::size_t t = item.persistent ? 0 : first[i];
             t < (item.persistent ? steps : std::min(steps, last[i] + 1)); ++t)
            live[t] += item.bytes;
    }
    return live;
}

std::uint64_t peak_of_live_bytes(const TensorUses& schedule) {
    const std::vector<std::uint64_t> live = live_bytes(schedule);
    return *std::max_element(live.begin(), live.end());
}

std::uint64_t open_bytes(const TensorUses& schedule, std::size_t step) {
    std::uint64_t sum = 0;
    for (const ItemAccess& access : schedule.steps[step].open)
        sum += schedule.items[access.item].bytes;
    return sum;
}

}  // namespace switchfold
