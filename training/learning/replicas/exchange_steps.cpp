// SPDX-License-Identifier: Apache-2.0
#include "training/learning/replicas/exchange_steps.h"

#include <algorithm>
#include <cmath>

namespace switchfold::learning {

bool ExchangeSteps::after(std::uint32_t step, double loss) {
    const AveragingSpec& rule = task_.averaging;
    switch (rule.rule) {
    case AveragingRule::kNone:
        return true;
    case AveragingRule::kPeriodic:
    case AveragingRule::kElastic:
    case AveragingRule::kElasticAsync:
    case AveragingRule::kModelAveraging:
    case AveragingRule::kBlockMomentum:
        break;
    case AveragingRule::kPostLocal:
        if (step <= (rule.every_step_until > 0 ? rule.every_step_until : task_.steps / 2))
            return true;
        break;
    case AveragingRule::kOneShot:
        return step == task_.steps;
    case AveragingRule::kAdaptive:
        return adaptive(step, loss);
    }
    return step % rule.every == 0;
}

/// AdaComm: H = ceil(H0 sqrt(F / F0)), with F the mean loss of the steps since the last exchange.
bool ExchangeSteps::adaptive(std::uint32_t step, double loss) {
    if (step == 1) {
        first_loss_ = loss;
        interval_ = task_.averaging.every;
    }
    sum_ += loss;
    if (step - last_ < interval_)
        return false;
    const double mean = sum_ / (step - last_);
    // A negative or non-finite loss is ignored: the interval is kept.
    if (first_loss_ > 0 && mean >= 0 && std::isfinite(mean)) {
        const double wanted = std::ceil(task_.averaging.every * std::sqrt(mean / first_loss_));
        interval_ =
            static_cast<std::uint32_t>(std::clamp(wanted, 1.0, static_cast<double>(task_.steps)));
    }
    last_ = step;
    sum_ = 0;
    return true;
}

}  // namespace switchfold::learning
