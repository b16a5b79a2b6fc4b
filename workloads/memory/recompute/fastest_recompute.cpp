// SPDX-License-Identifier: Apache-2.0
#include "workloads/memory/recompute/fastest_recompute.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

class Trials {
public:
    explicit Trials(const TryRecompute& trial) : trial_(trial) {}

    bool add(std::vector<LayerRange> again) {
        const RecomputeTrial tried = trial_(again);
        if (tried.fits && (!seconds_ || tried.seconds < *seconds_)) {
            seconds_ = tried.seconds;
            best_ = std::move(again);
        }
        return tried.fits;
    }
    [[nodiscard]] std::vector<LayerRange> best() && { return std::move(best_); }

private:
    const TryRecompute& trial_;
    std::vector<LayerRange> best_;
    std::optional<double> seconds_;
};

}  // namespace

std::vector<LayerRange>
layers_again(const std::vector<ChainUnit>& chain, const RecomputePlan& plan) {
    std::vector<LayerRange> again;
    for (const Segment& segment : plan) {
        const ChainUnit& first = chain[segment.first];
        if (segment.mode == SegmentMode::kRecompute)
            again.push_back({first.layers.first, chain[segment.last].layers.end});
        else if (segment.mode == SegmentMode::kSelective)
            again.insert(again.end(), first.selective_layers.begin(), first.selective_layers.end());
    }
    return again;
}

std::uint64_t hidden_copies(std::span<const LayerTimes> times, const CopyRates& rates) {
    double forward = 0;
    double backward = 0;
    for (const LayerTimes& layer : times) {
        forward += layer.forward;
        backward += layer.input_gradient + layer.weight_gradient;
    }
    return static_cast<std::uint64_t>(std::min(rates.in, rates.out) * std::min(forward, backward));
}

std::vector<LayerRange> fastest_recompute(
    const std::vector<ChainUnit>& chain,
    const RecomputeOptions& options,
    const TryRecompute& trial) {
    Trials trials(trial);
    if (trials.add({}) && !options.travels)
        return {};  // repeating costs time and gains nothing
    trials.add(layers_again(chain, recompute_selective(chain)));
    trials.add(layers_again(chain, recompute_full(chain)));
    const std::uint64_t least = least_recompute_memory(chain);
    const std::uint64_t most = std::max(least, cost_of(chain, keep_all(chain)).peak);
    const auto exact = [&](std::uint64_t memory, std::uint64_t hidden) {
        const RecomputeChoice choice = recompute_exactly(chain, {memory, hidden});
        return choice.plan && trials.add(layers_again(chain, *choice.plan));
    };
    if (options.travels) {
        constexpr std::uint64_t kSizes = 16;
        for (std::uint64_t i = 0; i < kSizes; ++i)
            for (const std::uint64_t hidden : {std::uint64_t{0}, options.hidden})
                exact(least + (most - least) / kSizes * i, hidden);
        return std::move(trials).best();
    }
    std::uint64_t fit = least;
    std::uint64_t not_fit = most;
    if (exact(least, 0))
        while (fit + 1 < not_fit) {
            const std::uint64_t middle = fit + (not_fit - fit) / 2;
            (exact(middle, 0) ? fit : not_fit) = middle;
        }
    return std::move(trials).best();
}

bool any_recompute_fits(const std::vector<ChainUnit>& chain, const TryRecompute& trial) {
    const RecomputeChoice least = recompute_exactly(chain, {least_recompute_memory(chain), 0});
    return trial({}).fits || trial(layers_again(chain, recompute_full(chain))).fits ||
           (least.plan && trial(layers_again(chain, *least.plan)).fits);
}

}  // namespace switchfold
