// SPDX-License-Identifier: Apache-2.0
#include "training/memory/update/gradient_groups.h"

#include <algorithm>
#include <array>

namespace switchfold {

std::vector<GradientGroup> layer_groups(const std::vector<UpdateLayer>& layers) {
    std::vector<GradientGroup> groups;
    std::vector<std::size_t> group_of(layers.size());
    std::vector<bool> has(layers.size());
    for (std::size_t i = layers.size(); i-- > 0;) {
        const auto join = [&](std::uint32_t owner) {
            if (!has[owner]) {
                has[owner] = true;
                group_of[owner] = groups.size();
                groups.push_back(
                    {layers[owner].gradient,
                     layers[owner].update,
                     {},
                     {owner},
                     layers[owner].of_experts});
            }
            groups[group_of[owner]].layers.push_back(static_cast<std::uint32_t>(i));
        };
        if (layers[i].gradient > 0)
            join(static_cast<std::uint32_t>(i));
        if (layers[i].shares)
            join(*layers[i].shares);
    }
    return groups;
}

std::vector<GradientGroup>
bucket_groups(const std::vector<UpdateLayer>& layers, std::uint64_t first, std::uint64_t others) {
    std::vector<GradientGroup> buckets;
    struct Open {
        std::optional<std::size_t> bucket;
        bool is_first = true;
    };
    std::array<Open, 2> open;  // of experts and others
    // Ordered by the layer that completes each gradient, hence the order of reductions.
    std::vector<GradientGroup> ready = layer_groups(layers);
    std::stable_sort(
        ready.begin(), ready.end(), [](const GradientGroup& a, const GradientGroup& b) {
            return a.layers.back() > b.layers.back();
        });
    for (const GradientGroup& one : ready) {
        auto& [at, is_first] = open[one.of_experts ? 1 : 0];
        if (!at) {
            at = buckets.size();
            buckets.emplace_back().of_experts = one.of_experts;
        }
        GradientGroup& bucket = buckets[*at];
        bucket.bytes += one.bytes;
        bucket.update += one.update;
        bucket.layers.insert(bucket.layers.end(), one.layers.begin(), one.layers.end());
        bucket.owners.insert(bucket.owners.end(), one.owners.begin(), one.owners.end());
        if (bucket.bytes >= (is_first ? first : others)) {
            at.reset();
            is_first = false;
        }
    }
    for (GradientGroup& bucket : buckets) {
        std::sort(bucket.layers.rbegin(), bucket.layers.rend());
        bucket.layers.erase(
            std::unique(bucket.layers.begin(), bucket.layers.end()), bucket.layers.end());
    }
    return buckets;
}

std::uint64_t sum_of_bytes(const std::vector<GradientGroup>& groups) {
    std::uint64_t sum = 0;
    for (const GradientGroup& group : groups)
        sum += group.bytes;
    return sum;
}

std::uint64_t largest(const std::vector<GradientGroup>& groups) {
    std::uint64_t most = 0;
    for (const GradientGroup& group : groups)
        most = std::max(most, group.bytes);
    return most;
}

std::uint64_t largest_pair(const std::vector<GradientGroup>& groups) {
    std::uint64_t most = groups.size() == 1 ? groups.front().bytes : 0;
    for (std::size_t i = 1; i < groups.size(); ++i)
        most = std::max(most, groups[i - 1].bytes + groups[i].bytes);
    return most;
}

std::uint64_t
least_ring(const std::vector<UpdateLayer>& layers, const std::vector<GradientGroup>& groups) {
    std::uint64_t most = 0;
    std::uint64_t open = 0;
    for (auto layer = static_cast<std::uint32_t>(layers.size()); layer-- > 0;) {
        for (const GradientGroup& group : groups)
            if (group.layers.front() == layer)
                open += group.bytes;
        most = std::max(most, open);
        for (const GradientGroup& group : groups)
            if (group.layers.back() == layer)
                open -= group.bytes;
    }
    return most;
}

}  // namespace switchfold
