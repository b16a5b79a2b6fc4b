// SPDX-License-Identifier: Apache-2.0
#include "training/learning/train/weight_choice.h"

#include "training/learning/numerics/functions.h"
#include "training/plan/schedule/weight_age.h"

#include <algorithm>

namespace switchfold::learning {

namespace {

/// A version's weights, without copying them.
std::shared_ptr<const Vector> weights_of(const StageWeights::Shared& version) {
    return {version, &version->weights};
}

/// Guan et al., XPipe (2019), equations 9 and 10: updates predicted for the first of T
/// micro-batches.
double xpipe_ahead(bool forward, std::uint32_t stages, std::uint32_t stage, std::uint32_t t) {
    const std::uint32_t half = stage / 2;
    const std::uint32_t numerator =
        forward ? stages + t - half - std::min(2U, stages + t - half) : t + half - 1;
    return std::floor(static_cast<double>(numerator) / t + 0.5);
}

}  // namespace

WeightChoice::WeightChoice(const Task& task, WeightPolicy policy, const WeightTimeline& timeline) :
    task_(task), policy_(policy), timeline_(timeline) {
    // The pipeline is full in the middle of the run.
    const std::uint32_t middle = timeline.micro_batches() / 2;
    for (std::uint32_t s = 0; s < timeline.stages(); ++s)
        delays_.push_back(1.0 + timeline.at_backward(s, middle) - timeline.at_forward(s, middle));
}

bool WeightChoice::keeps_forward() const {
    return policy_ == WeightPolicy::kStash || policy_ == WeightPolicy::kVerticalSync ||
           policy_ == WeightPolicy::kDoubleBuffered || policy_ == WeightPolicy::kPredictOnce;
}

Chosen WeightChoice::as_it_is(const StageWeights& all, std::uint32_t version) const {
    const StageWeights::Shared& chosen = all.version(version);
    return {weights_of(chosen), chosen, 0};
}

Chosen
WeightChoice::predicted_by(const StageWeights& all, std::uint32_t version, double ahead) const {
    const StageWeights::Shared& from = all.version(version);
    if (ahead == 0)
        return {weights_of(from), from, 0};
    return {std::make_shared<const Vector>(predicted(task_.optimizer, *from, ahead)), from, ahead};
}

double WeightChoice::ahead_of(const Pass& pass, std::uint32_t version) const {
    const std::uint32_t stages = timeline_.stages();
    const bool forward = pass.kind == PassKind::kForward;
    const bool once = policy_ == WeightPolicy::kPredictOnce;
    if (task_.ahead == Ahead::kFormula) {
        if (once)
            return stages - 1 - pass.stage;
        return forward ? predicted_forward(stages, pass.stage)
                       : predicted_backward(stages, pass.stage);
    }
    const std::uint32_t target =
        once ? timeline_.updates_by_earlier(pass.stage, pass.micro_batch)
             : timeline_.updates_at_round_trip(pass.stage, pass.micro_batch);
    return target - std::min(target, version);
}

Chosen WeightChoice::once_a_step(const Pass& pass, std::uint32_t version, const StageWeights& all) {
    const bool forward = pass.kind == PassKind::kForward;
    const std::uint32_t step = pass.micro_batch / timeline_.a_step();
    auto& [made_for, chosen] = shared_[{pass.stage, forward}];
    if (!chosen.weights || made_for != step) {
        made_for = step;
        chosen = predicted_by(
            all, version, xpipe_ahead(forward, timeline_.stages(), pass.stage, timeline_.a_step()));
    }
    return chosen;
}

Chosen WeightChoice::forward(const Pass& pass, std::uint32_t version, const StageWeights& all) {
    switch (policy_) {
    case WeightPolicy::kLatest:
    case WeightPolicy::kStash:
    case WeightPolicy::kPipeMare:
        break;
    case WeightPolicy::kVerticalSync:
        return as_it_is(all, std::min(version, timeline_.at_forward(0, pass.micro_batch)));
    case WeightPolicy::kDoubleBuffered: {
        const std::uint32_t step = pass.micro_batch / timeline_.a_step();
        return as_it_is(all, std::min(version, step - std::min(step, 1U)));
    }
    case WeightPolicy::kPredict:
    case WeightPolicy::kPredictOnce:
        return predicted_by(all, version, ahead_of(pass, version));
    case WeightPolicy::kXpipe:
        return once_a_step(pass, version, all);
    }
    return as_it_is(all, version);
}

Chosen WeightChoice::backward(
    const Pass& pass, std::uint32_t version, const StageWeights& all, const Chosen& forward) {
    if (keeps_forward())
        return forward;
    if (policy_ == WeightPolicy::kPredict)
        return predicted_by(all, version, ahead_of(pass, version));
    if (policy_ == WeightPolicy::kXpipe)
        return once_a_step(pass, version, all);
    Chosen chosen = as_it_is(all, version);
    if (policy_ == WeightPolicy::kPipeMare) {
        const std::uint32_t then = timeline_.at_forward(pass.stage, pass.micro_batch);
        const double between = version - then;
        if (between > 0)
            chosen.weights =
                std::make_shared<const Vector>(*chosen.weights - between * all.average_update());
    }
    return chosen;
}

double WeightChoice::rate_scale(std::uint32_t stage, std::uint32_t update) const {
    if (policy_ != WeightPolicy::kPipeMare)
        return 1;
    const std::uint32_t all =
        task_.pipemare_steps > 0 ? task_.pipemare_steps : std::max(1U, task_.steps / 4);
    const double done = std::min(1.0, static_cast<double>(update) / all);
    return exponential(-logarithm(delays_[stage]) * (1 - done));
}

double WeightChoice::keep_of_average(std::uint32_t stage) const {
    if (policy_ != WeightPolicy::kPipeMare || delays_[stage] <= 1)
        return 0;
    return exponential(logarithm(task_.pipemare_decay) / (delays_[stage] - 1));
}

}  // namespace switchfold::learning
