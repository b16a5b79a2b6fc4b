// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/jitter.h"

#include "core/random_stream.h"

#include <boost/math/distributions/normal.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

namespace switchfold {

namespace {

/// The share of draws below the largest of `many`: the root of a uniform number.
double largest_of(RandomStream& random, std::uint32_t many) {
    return std::pow(random.share(), 1.0 / many);
}

/// A factor around 1, the largest of `many` draws.
double factor(RandomStream& random, double deviation, std::uint32_t many = 1) {
    constexpr double kEnd = 1e-12;  // quantiles of 0 and 1 are infinite
    constexpr double kLeast = 0.5;
    const double share = std::clamp(largest_of(random, many), kEnd, 1 - kEnd);
    return std::max(kLeast, 1 + deviation * boost::math::quantile(boost::math::normal(), share));
}

Time scaled(Time time, double by) {
    return Time(static_cast<std::uint64_t>(std::llround(static_cast<double>(time.count()) * by)));
}

Time delay(RandomStream& random, Time mean, std::uint32_t many) {
    const double share = std::min(largest_of(random, many), 1 - 1e-12);
    return scaled(mean, -std::log1p(-share));
}

}  // namespace

void vary(
    ExecutionGraph& graph, const Jitter& jitter, std::uint64_t seed, std::uint32_t stands_for) {
    if (jitter.none())
        return;
    for (std::size_t rank = 0; rank < graph.ranks.size(); ++rank) {
        if (graph.ranks[rank]->operations.empty())
            continue;
        const auto stream = [&](const char* what) {
            return RandomStream(seed, fmt::format("{} of rank {}", what, rank));
        };
        RandomStream speeds = stream("speed");
        RandomStream kernels = stream("kernels");
        RandomStream starts = stream("starts");
        auto changed = std::make_shared<RankGraph>(*graph.ranks[rank]);
        const double speed = factor(speeds, jitter.gpus, stands_for);
        for (Operation& operation : changed->operations)
            if (auto* kernel = std::get_if<KernelOperation>(&operation.body))
                kernel->isolated =
                    scaled(kernel->isolated, speed * factor(kernels, jitter.kernels));
            else if (std::holds_alternative<CollectiveOperation>(operation.body))
                operation.gap += delay(starts, jitter.starts, stands_for);
        graph.ranks[rank] = std::move(changed);
    }
}

}  // namespace switchfold
