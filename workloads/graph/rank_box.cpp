// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/rank_box.h"

#include <algorithm>

namespace switchfold {

namespace {

/// Offsets of all ranks of a box, ascending.
std::vector<std::uint32_t> offsets_of(const std::vector<RankBox::Side>& sides) {
    std::vector<std::uint32_t> offsets{0};
    for (const RankBox::Side& side : sides) {
        const std::vector<std::uint32_t> inner = offsets;
        for (std::uint32_t step = 1; step < side.count; ++step)
            for (const std::uint32_t offset : inner)
                offsets.push_back(offset + step * side.stride);
    }
    return offsets;
}

/// The sides that begin a list of ascending offsets, each as long as it goes.
std::vector<RankBox::Side> sides_of(const std::vector<std::uint32_t>& offsets) {
    std::vector<RankBox::Side> sides;
    std::size_t inner = 1;  // ranks that the sides so far span
    while (inner < offsets.size()) {
        RankBox::Side side{offsets[inner], 1};
        for (std::size_t at = inner; at < offsets.size() && offsets[at] == side.count * side.stride;
             at += inner)
            ++side.count;
        sides.push_back(side);
        inner *= side.count;
    }
    return sides;
}

}  // namespace

std::optional<RankBox> RankBox::of(const std::vector<std::uint32_t>& ranks) {
    if (ranks.empty())
        return std::nullopt;
    std::vector<std::uint32_t> offsets = ranks;
    for (std::uint32_t& offset : offsets)
        offset -= ranks.front();
    RankBox box;
    box.sides_ = sides_of(offsets);
    std::uint32_t span = 1;
    for (const Side& side : box.sides_) {
        if (side.stride % span != 0)
            return std::nullopt;
        span = side.stride * side.count;
    }
    if (offsets_of(box.sides_) != offsets)
        return std::nullopt;
    return box;
}

bool RankBox::covers(std::uint32_t world) const {
    return sides_.empty() || world % (sides_.back().stride * sides_.back().count) == 0;
}

std::vector<std::uint32_t> RankBox::around(std::uint32_t rank) const {
    std::uint32_t first = rank;
    for (const Side& side : sides_)
        first -= rank / side.stride % side.count * side.stride;
    std::vector<std::uint32_t> ranks = offsets_of(sides_);
    for (std::uint32_t& one : ranks)
        one += first;
    return ranks;
}

std::optional<RankBox> RankBox::scaled(std::uint32_t world, std::uint32_t ranks) const {
    RankBox box = *this;
    if (box.sides_.empty() || world == ranks)
        return box;
    Side& last = box.sides_.back();
    if (last.stride * last.count == world) {
        if (ranks % last.stride != 0)
            return std::nullopt;
        last.count = ranks / last.stride;
        if (last.count < 2)
            box.sides_.pop_back();
    }
    return box.covers(ranks) ? std::optional(box) : std::nullopt;
}

std::vector<std::uint32_t>
continue_box(const std::vector<std::uint32_t>& first, std::uint32_t size, std::uint32_t world) {
    if (first.empty())
        return {};
    std::vector<std::uint32_t> offsets = first;
    for (std::uint32_t& offset : offsets)
        offset -= first.front();
    std::vector<RankBox::Side> sides = sides_of(offsets);
    if (sides.empty())
        return {};
    std::uint32_t inner = 1;
    for (std::size_t i = 0; i + 1 < sides.size(); ++i)
        inner *= sides[i].count;
    if (size % inner != 0)
        return {};
    sides.back().count = size / inner;
    std::vector<std::uint32_t> ranks = offsets_of(sides);
    for (std::uint32_t& rank : ranks)
        rank += first.front();
    const bool begins = ranks.size() == size && ranks.back() < world &&
                        std::is_sorted(ranks.begin(), ranks.end()) &&
                        std::equal(first.begin(), first.end(), ranks.begin());
    return begins ? ranks : std::vector<std::uint32_t>{};
}

}  // namespace switchfold
