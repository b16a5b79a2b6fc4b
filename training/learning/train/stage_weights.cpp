// SPDX-License-Identifier: Apache-2.0
#include "training/learning/train/stage_weights.h"

#include "core/error.h"

#include <algorithm>
#include <utility>

namespace switchfold::learning {

StageWeights::StageWeights(const OptimizerSpec& spec, Vector initial) :
    spec_(spec), average_(Vector::Zero(initial.size())) {
    versions_.push_back(std::make_shared<const Version>(initial_version(spec, std::move(initial))));
}

const StageWeights::Shared& StageWeights::version(std::uint32_t updates) const {
    SWITCHFOLD_CHECK(
        updates >= oldest_ && updates <= made(), "version {} is asked for; kept are {} to {}",
        updates, oldest_, made());
    return versions_[updates - oldest_];
}

void StageWeights::update(Vector gradient, double scale, double keep_of_average) {
    const Shared last = versions_.back();
    versions_.push_back(
        std::make_shared<const Version>(updated(spec_, *last, std::move(gradient), scale)));
    if (keep_of_average > 0)
        average_ = keep_of_average * average_ +
                   (1 - keep_of_average) * (versions_.back()->weights - last->weights);
}

void StageWeights::forget_before(std::uint32_t updates) {
    for (; oldest_ < updates && versions_.size() > 1; ++oldest_)
        versions_.pop_front();
}

void Targets::add(
    std::uint32_t target, const StageWeights& weights, std::shared_ptr<const Vector> used,
    StageWeights::Shared stale, Distance& to) {
    Waiting waiting{target, std::move(used), std::move(stale), &to};
    if (target <= weights.made())
        measure(waiting, weights.version(target)->weights);
    else
        waiting_.push_back(std::move(waiting));
}

void Targets::made(const StageWeights& weights) {
    std::erase_if(waiting_, [&](const Waiting& waiting) {
        if (waiting.target != weights.made())
            return false;
        measure(waiting, weights.version(waiting.target)->weights);
        return true;
    });
}

void Targets::measure(const Waiting& waiting, const Vector& target) {
    waiting.to->used += sum_of_squares(*waiting.used - target);
    waiting.to->stale += sum_of_squares(waiting.stale->weights - target);
    waiting.to->numbers += static_cast<double>(target.size());
}

}  // namespace switchfold::learning
