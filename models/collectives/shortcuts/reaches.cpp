// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/reaches.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

// Of a memory's bandwidth: more for two is not left to each as if it were alone.
constexpr double kRoom = 0.95;

/// Whether a memory of both can be short of bandwidth.
bool crowd(const Reach& a, const Reach& b) {
    for (std::size_t i = 0, k = 0; i < a.ranks.size() && k < b.ranks.size();) {
        if (a.ranks[i] == b.ranks[k] && a.loads[i] + b.loads[k] > kRoom)
            return true;
        (a.ranks[i] < b.ranks[k] ? i : k) += 1;
    }
    return false;
}

}  // namespace

bool share_any(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    auto at = b.begin();
    return std::ranges::any_of(a, [&](std::uint32_t one) {
        at = std::lower_bound(at, b.end(), one);
        return at != b.end() && *at == one;
    });
}

std::uint32_t Reaches::add(Reach reach) {
    const auto number = static_cast<std::uint32_t>(all_.size());
    Numbered& fresh = all_.emplace_back();
    fresh.touching = fresh.slowing = {number};
    for (std::uint32_t i = 0; i < number; ++i) {
        Numbered& other = all_[i];
        const bool slows = !other.reach || share_any(other.reach->links, reach.links) ||
                           crowd(*other.reach, reach);
        if (!slows && !share_any(other.reach->ranks, reach.ranks))
            continue;
        fresh.touching.push_back(i);
        fresh.touched_by += other.under_way;
        other.touching.push_back(number);
        if (!slows)
            continue;
        fresh.slowing.push_back(i);
        fresh.slowed_by += other.under_way;
        other.slowing.push_back(number);
    }
    fresh.reach = std::move(reach);
    return number;
}

void Reaches::begin(std::uint32_t number) {
    ++all_[number].under_way;
    for (const std::uint32_t other : all_[number].touching)
        ++all_[other].touched_by;
    for (const std::uint32_t other : all_[number].slowing)
        ++all_[other].slowed_by;
}

void Reaches::end(std::uint32_t number) {
    --all_[number].under_way;
    for (const std::uint32_t other : all_[number].touching)
        --all_[other].touched_by;
    for (const std::uint32_t other : all_[number].slowing)
        --all_[other].slowed_by;
}

}  // namespace switchfold
