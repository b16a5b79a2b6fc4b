// SPDX-License-Identifier: Apache-2.0
#include "interconnect/ring_search/lane_table.h"

#include <algorithm>
#include <numeric>

namespace switchfold {

namespace {

/// Where the lane to a member is in a row ordered by members, or would be.
template <class Row>
auto place(Row& row, std::uint32_t to) {
    return std::lower_bound(
        row.begin(), row.end(), to,
        [](const LaneTable::Lane& lane, std::uint32_t end) { return lane.to < end; });
}

/// Null if there is none.
template <class Row>
auto find(Row& row, std::uint32_t to) -> decltype(row.data()) {
    const auto at = place(row, to);
    return at != row.end() && at->to == to ? &*at : nullptr;
}

}  // namespace

void LaneTable::join(std::uint32_t a, std::uint32_t b, std::uint32_t lanes) {
    add(a, b, lanes);
    add(b, a, lanes);
}

void LaneTable::add(std::uint32_t from, std::uint32_t to, std::uint32_t lanes) {
    std::vector<Lane>& row = from_[from];
    const auto at = place(row, to);
    if (at != row.end() && at->to == to)
        at->left += lanes;
    else
        row.insert(at, {to, lanes});
}

std::uint32_t LaneTable::left(std::uint32_t from, std::uint32_t to) const {
    const Lane* lane = find(from_[from], to);
    return lane == nullptr ? 0 : lane->left;
}

bool LaneTable::direct(std::uint32_t from, std::uint32_t to) const {
    return find(from_[from], to) != nullptr;
}

std::size_t LaneTable::most_rings() const {
    std::uint32_t most = UINT32_MAX;
    for (const auto& row : from_)
        most = std::min(
            most, std::accumulate(row.begin(), row.end(), 0U, [](std::uint32_t sum, Lane lane) {
                return sum + lane.left;
            }));
    return most;
}

bool LaneTable::take(std::uint32_t from, std::uint32_t to) {
    Lane* lane = find(from_[from], to);
    if (lane == nullptr || lane->left == 0)
        return false;
    --lane->left;
    return true;
}

void LaneTable::give_back(std::uint32_t from, std::uint32_t to) {
    ++find(from_[from], to)->left;
}

void LaneTable::take(const Ring& ring) {
    for (std::size_t i = 0; i < ring.size(); ++i)
        --find(from_[ring[i]], ring[(i + 1) % ring.size()])->left;
}

void LaneTable::give_back(const Ring& ring) {
    for (std::size_t i = 0; i < ring.size(); ++i)
        give_back(ring[i], ring[(i + 1) % ring.size()]);
}

Ring reversed(Ring ring) {
    std::reverse(ring.begin() + 1, ring.end());
    return ring;
}

}  // namespace switchfold
