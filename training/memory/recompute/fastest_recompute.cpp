// SPDX-License-Identifier: Apache-2.0
#include "training/memory/recompute/fastest_recompute.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace switchfold {

namespace {

class Trials {
public:
    explicit Trials(const TryRecompute& trial) : trial_(trial) {}

    /// \returns whether it fits and was not tried before.
    bool add(const std::vector<LayerRange>& again) {
        if (holds(tried_, again))
            return false;
        tried_.push_back(again);
        const RecomputeTrial tried = trial_(again, seconds_, TrialDetail::kFull);
        if (tried.fits && tried.seconds < seconds_) {
            seconds_ = tried.seconds;
            best_ = again;
        }
        return tried.fits;
    }
    /// Tries it in full only if it turns out to be one of the best.
    void add_roughly(const std::vector<LayerRange>& again) {
        if (holds(tried_, again) || holds(roughly_tried_, again))
            return;
        roughly_tried_.push_back(again);
        const RecomputeTrial tried = trial_(again, seconds_, TrialDetail::kRough);
        rough_.emplace(tried.fits ? tried.seconds : kNever, again);
    }
    void finish() {
        constexpr std::size_t kInFull = 2;
        std::size_t full = 0;
        for (const auto& [seconds, again] : rough_)
            if (none() || (seconds < kNever && full < kInFull)) {
                add(again);
                ++full;
            }
    }
    [[nodiscard]] bool none() const { return seconds_ == kNever; }
    [[nodiscard]] std::vector<LayerRange> best() && { return std::move(best_); }

private:
    using Agains = std::vector<std::vector<LayerRange>>;
    [[nodiscard]] static bool holds(const Agains& many, const std::vector<LayerRange>& again) {
        return std::find(many.begin(), many.end(), again) != many.end();
    }

    static constexpr double kNever = std::numeric_limits<double>::infinity();
    const TryRecompute& trial_;
    Agains tried_;
    Agains roughly_tried_;
    std::multimap<double, std::vector<LayerRange>> rough_;  ///< by seconds
    std::vector<LayerRange> best_;
    double seconds_ = kNever;
};

/// The layers that the plan of least memory repeats, whatever they take: which batch fits does not
/// depend on times.
std::vector<LayerRange> least_again(std::vector<ChainUnit> chain) {
    for (ChainUnit& unit : chain)
        unit.forward = unit.selective_seconds = 0;
    ExactRecompute least;
    least.memory = least_recompute_memory(chain, true);
    least.held = true;
    const RecomputeChoice choice = recompute_exactly(chain, least);
    return choice.plan ? layers_again(chain, *choice.plan) : std::vector<LayerRange>{};
}

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
    const std::vector<ChainUnit>& chain, const RecomputeOptions& options,
    const TryRecompute& trial) {
    Trials trials(trial);
    if (trials.add({}) && !options.travels)
        return {};  // repeating costs time and gains nothing
    trials.add(options.rule);
    trials.add(layers_again(chain, recompute_selective(chain)));
    const std::uint64_t least = least_recompute_memory(chain, true);
    const std::uint64_t most = std::max(least, cost_of(chain, keep_all(chain)).held);
    const auto exact = [&](std::uint64_t memory, std::uint64_t hidden, bool held) {
        ExactRecompute exactly;
        exactly.memory = memory;
        exactly.offload_budget = hidden;
        exactly.held = held;
        const RecomputeChoice choice = recompute_exactly(chain, exactly);
        if (!choice.plan)
            return;
        const std::vector<LayerRange> again = layers_again(chain, *choice.plan);
        if (options.travels)
            trials.add_roughly(again);
        else
            trials.add(again);
    };
    const std::uint64_t sizes = options.travels ? 8 : 64;
    for (std::uint64_t i = 0; i < sizes; ++i) {
        const std::uint64_t size = least + (most - least) / sizes * i;
        exact(size, 0, true);
        exact(size, options.travels ? options.hidden : 0, false);
    }
    trials.finish();
    if (trials.none())
        return least_again(chain);
    return std::move(trials).best();
}

bool any_recompute_fits(
    const std::vector<ChainUnit>& chain, const std::vector<LayerRange>& rule,
    const TryRecompute& trial) {
    const double best = std::numeric_limits<double>::infinity();
    const auto fits = [&](const std::vector<LayerRange>& again) {
        return trial(again, best, TrialDetail::kFull).fits;
    };
    return fits({}) || fits(rule) || fits(least_again(chain));
}

}  // namespace switchfold
