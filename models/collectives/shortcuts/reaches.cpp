// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/reaches.h"

#include <algorithm>
#include <utility>

namespace switchfold {

bool share_any(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    auto at = b.begin();
    return std::ranges::any_of(a, [&](std::uint32_t one) {
        at = std::lower_bound(at, b.end(), one);
        return at != b.end() && *at == one;
    });
}

namespace {

bool overlap(const std::optional<Reach>& a, const Reach& b) {
    return !a || share_any(a->ranks, b.ranks) || share_any(a->links, b.links);
}

}  // namespace

std::uint32_t Reaches::number_of(const Reach& reach) {
    const auto known = std::ranges::find_if(
        all_, [&](const Numbered& other) { return other.reach && *other.reach == reach; });
    const auto number = static_cast<std::uint32_t>(known - all_.begin());
    if (known != all_.end())
        return number;
    Numbered fresh{reach, {}, 0, 0};
    for (std::uint32_t other = 0; other < number; ++other)
        if (overlap(all_[other].reach, reach)) {
            fresh.overlapping.push_back(other);
            fresh.under_way += all_[other].own;
            all_[other].overlapping.push_back(number);
        }
    fresh.overlapping.push_back(number);
    all_.push_back(std::move(fresh));
    return number;
}

void Reaches::begin(std::uint32_t number) {
    ++all_[number].own;
    for (const std::uint32_t other : all_[number].overlapping)
        ++all_[other].under_way;
}

void Reaches::end(std::uint32_t number) {
    --all_[number].own;
    for (const std::uint32_t other : all_[number].overlapping)
        --all_[other].under_way;
}

}  // namespace switchfold
