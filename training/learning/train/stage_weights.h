// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/optimizer/optimizer.h"
#include "training/learning/train/run.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace switchfold::learning {

/// The versions of a stage's weights, from the oldest that may still be read.
class StageWeights {
public:
    using Shared = std::shared_ptr<const Version>;

    StageWeights(const OptimizerSpec& spec, Vector initial);

    [[nodiscard]] std::uint32_t made() const {
        return oldest_ + static_cast<std::uint32_t>(versions_.size()) - 1;
    }
    [[nodiscard]] const Shared& version(std::uint32_t updates) const;
    /// `scale`: factor on the learning rate. `keep_of_average`: share of the average of updates
    /// that is kept.
    void update(Vector gradient, double scale, double keep_of_average);
    void forget_before(std::uint32_t updates);
    /// Running average of the updates.
    [[nodiscard]] const Vector& average_update() const { return average_; }

private:
    const OptimizerSpec& spec_;
    std::deque<Shared> versions_;
    std::uint32_t oldest_ = 0;
    Vector average_;
};

/// Distances to versions that may not exist yet.
class Targets {
public:
    void
    add(std::uint32_t target, const StageWeights& weights, std::shared_ptr<const Vector> used,
        StageWeights::Shared stale, Distance& to);
    /// Call with each version that is created.
    void made(const StageWeights& weights);

private:
    struct Waiting {
        std::uint32_t target = 0;
        std::shared_ptr<const Vector> used;
        StageWeights::Shared stale;
        Distance* to = nullptr;
    };
    static void measure(const Waiting& waiting, const Vector& target);
    std::vector<Waiting> waiting_;
};

}  // namespace switchfold::learning
