// SPDX-License-Identifier: Apache-2.0
#include "training/learning/replicas/meeting.h"

#include <utility>

namespace switchfold::learning {

Meeting::Meeting(
    const AveragingSpec& rule, const std::vector<BatchPart>& parts, const Vector& initial) :
    rule_(rule),
    centre_(initial),
    last_(initial),
    shift_(Vector::Zero(initial.size())),
    ahead_(initial) {
    constexpr double kSum = 0.9;  // sum of all pulls; stable up to 1
    pull_ = rule.strength > 0 ? rule.strength : kSum / static_cast<double>(parts.size());
    for (const BatchPart& part : parts)
        weight_.push_back(static_cast<double>(part.count()) / parts.back().end);
}

void Meeting::all(std::vector<Version>& own, const std::vector<Vector>& before) {
    switch (rule_.rule) {
    case AveragingRule::kElastic:
    case AveragingRule::kModelAveraging: {
        Vector to_centre = Vector::Zero(centre_.size());
        for (std::size_t r = 0; r < own.size(); ++r) {
            const Vector part = pull_ * (before[r] - centre_);
            own[r].weights -= part;
            to_centre += part;
        }
        if (rule_.rule == AveragingRule::kModelAveraging)
            to_centre += rule_.centre_momentum * (centre_ - last_);
        last_ = centre_;
        centre_ += to_centre;
        return;
    }
    case AveragingRule::kBlockMomentum: {
        const double keep = rule_.block_momentum < 0 ? 1 - 1 / static_cast<double>(own.size())
                                                     : rule_.block_momentum;
        shift_ = keep * shift_ + (mean(own) - ahead_);
        centre_ += shift_;
        ahead_ = centre_ + keep * shift_;  // Nesterov momentum
        go_on_from(ahead_, own);
        return;
    }
    case AveragingRule::kNone:
    case AveragingRule::kPeriodic:
    case AveragingRule::kPostLocal:
    case AveragingRule::kOneShot:
    case AveragingRule::kAdaptive:
    case AveragingRule::kElasticAsync:
        break;
    }
    go_on_from(mean(own), own);
}

void Meeting::one(Version& own) {
    const Vector part = pull_ * (own.weights - centre_);
    own.weights -= part;
    centre_ += part;
}

Vector Meeting::model(const std::vector<Version>& own) const {
    const bool has_centre =
        rule_.rule == AveragingRule::kElastic || rule_.rule == AveragingRule::kElasticAsync ||
        rule_.rule == AveragingRule::kModelAveraging || rule_.rule == AveragingRule::kBlockMomentum;
    return has_centre ? centre_ : mean(own);
}

/// Weighted by the replicas' samples.
Vector Meeting::mean(const std::vector<Version>& own) const {
    Vector sum = weight_.front() * own.front().weights;
    for (std::size_t r = 1; r < own.size(); ++r)
        sum += weight_[r] * own[r].weights;
    return sum;
}

void Meeting::go_on_from(const Vector& weights, std::vector<Version>& own) const {
    for (Version& version : own) {
        version.weights = weights;
        if (!rule_.keep_momentum)
            version.first.setZero();
    }
}

}  // namespace switchfold::learning
