// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/rank_classes.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace switchfold {

namespace {

constexpr std::uint32_t kNoGroup = UINT32_MAX;

/// Colours by first use. \returns how many there are.
template <class Key>
std::size_t number(const std::vector<Key>& keys, std::vector<std::uint32_t>& colours) {
    std::map<Key, std::uint32_t> known;
    colours.clear();
    for (const Key& key : keys)
        colours.push_back(
            known.try_emplace(key, static_cast<std::uint32_t>(known.size())).first->second);
    return known.size();
}

}  // namespace

std::vector<std::uint32_t> rank_classes(
    const std::vector<std::vector<std::vector<std::uint32_t>>>& orbits,
    std::vector<std::uint32_t> first) {
    std::vector<std::uint32_t> colours;
    std::size_t before = number(first, colours);
    // Colours are refined until ranks of one see the same colours in all their groups.
    while (true) {
        std::vector<std::vector<std::uint32_t>> seen(first.size());
        for (std::size_t rank = 0; rank < first.size(); ++rank)
            seen[rank].push_back(colours[rank]);
        for (const auto& groups : orbits) {
            std::map<std::vector<std::uint32_t>, std::uint32_t> kinds;
            std::vector<std::uint32_t> kind_of(first.size(), kNoGroup);
            for (const std::vector<std::uint32_t>& group : groups) {
                std::vector<std::uint32_t> held;
                for (const std::uint32_t rank : group)
                    held.push_back(colours[rank]);
                std::sort(held.begin(), held.end());
                const auto kind =
                    kinds.try_emplace(std::move(held), static_cast<std::uint32_t>(kinds.size()))
                        .first->second;
                for (const std::uint32_t rank : group)
                    kind_of[rank] = kind;
            }
            for (std::size_t rank = 0; rank < first.size(); ++rank)
                seen[rank].push_back(kind_of[rank]);
        }
        const std::size_t now = number(seen, colours);
        if (now == before)
            break;
        before = now;
    }
    std::vector<std::uint32_t> first_of(before, UINT32_MAX);
    std::vector<std::uint32_t> classes;
    for (std::uint32_t rank = 0; rank < first.size(); ++rank) {
        std::uint32_t& first_one = first_of[colours[rank]];
        first_one = std::min(first_one, rank);
        classes.push_back(first_one);
    }
    return classes;
}

std::vector<std::uint32_t> class_sizes(const std::vector<std::uint32_t>& classes) {
    std::vector<std::uint32_t> sizes(classes.size(), 0);
    for (const std::uint32_t first : classes)
        ++sizes[first];
    return sizes;
}

}  // namespace switchfold
