// SPDX-License-Identifier: Apache-2.0
#include "training/memory/access/tensor_uses.h"

#include "core/error.h"

#include <set>

namespace switchfold {

namespace {

struct Use {
    std::uint32_t step = 0;
    bool writes = false;
    bool anew = false;
};

/// Stays of one item. For a persistent item the last step of an iteration is adjacent to the first.
std::vector<Stay>
stays_of(std::uint32_t item, bool persistent, const std::vector<Use>& uses, std::uint32_t steps) {
    std::vector<Stay> stays;
    std::vector<bool> wrote;
    std::vector<bool> anew;
    for (const Use& use : uses) {
        if (stays.empty() || use.step != stays.back().last + 1) {
            stays.push_back({item, use.step, use.step, true, false});
            wrote.push_back(false);
            anew.push_back(use.anew);
        }
        stays.back().last = use.step;
        wrote.back() = wrote.back() || use.writes;
    }
    if (persistent && stays.size() > 1 && stays.front().first == 0 &&
        stays.back().last + 1 == steps) {
        stays.back().last = stays.front().last;
        wrote.back() = wrote.back() || wrote.front();
        stays.erase(stays.begin());
        wrote.erase(wrote.begin());
    }
    if (persistent && stays.size() == 1 && stays.front().first == 0 &&
        stays.front().last + 1 == steps)
        stays.front().prefetch = false;  // always open
    for (std::size_t i = 0; i < stays.size(); ++i) {
        const bool read_again = persistent || (i + 1 < stays.size() && !anew[i + 1]);
        stays[i].offload = wrote[i] && read_again && (stays[i].prefetch || !persistent);
    }
    if (!persistent)
        for (std::size_t i = 0; i < stays.size(); ++i)
            stays[i].prefetch = i > 0 && !anew[i];
    return stays;
}

}  // namespace

std::vector<Stay> stays_of(const TensorUses& schedule) {
    std::vector<std::vector<Use>> uses(schedule.items.size());
    for (std::uint32_t t = 0; t < schedule.steps.size(); ++t)
        for (const ItemAccess& access : schedule.steps[t].open)
            uses[access.item].push_back({t, access.writes, access.anew});
    std::vector<Stay> all;
    const auto steps = static_cast<std::uint32_t>(schedule.steps.size());
    for (std::uint32_t item = 0; item < uses.size(); ++item)
        for (const Stay& stay : stays_of(item, schedule.items[item].persistent, uses[item], steps))
            all.push_back(stay);
    return all;
}

void count_copies(TensorUses& schedule) {
    check(schedule);
    for (MemoryItem& item : schedule.items)
        item.prefetches = item.offloads = 0;
    for (const Stay& stay : stays_of(schedule)) {
        MemoryItem& item = schedule.items[stay.item];
        if (item.scratch)
            continue;
        item.prefetches += stay.prefetch ? 1 : 0;
        item.offloads += stay.offload ? 1 : 0;
    }
}

void check(const TensorUses& schedule) {
    SWITCHFOLD_CHECK(!schedule.steps.empty(), "{} has no steps", schedule.name);
    for (const LayerUse& step : schedule.steps) {
        std::set<std::uint32_t> seen;
        for (const ItemAccess& access : step.open) {
            SWITCHFOLD_CHECK(
                access.item < schedule.items.size(), "{} opens item {} of {}", step.name,
                access.item, schedule.items.size());
            SWITCHFOLD_CHECK(
                seen.insert(access.item).second, "{} opens {} twice", step.name,
                schedule.items[access.item].name);
        }
    }
}

std::uint64_t candidate_bytes(const TensorUses& schedule) {
    std::uint64_t sum = 0;
    for (const MemoryItem& item : schedule.items)
        sum += item.candidate() ? item.bytes : 0;
    return sum;
}

}  // namespace switchfold
