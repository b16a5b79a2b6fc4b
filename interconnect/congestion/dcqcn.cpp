// SPDX-License-Identifier: Apache-2.0
#include "interconnect/congestion/dcqcn.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

DcqcnRate::DcqcnRate(const DcqcnParams& params, Bandwidth line) :
    params_(&params),
    line_(static_cast<double>(line.count())),
    rate_(line_),
    target_(line_),
    alpha_due_(params.gain_timer),
    rise_due_(params.rate_timer) {}

void DcqcnRate::notified(Time now) {
    advance(now);
    target_ = rate_;
    rate_ = std::max(
        rate_ * (1 - alpha_ / 2), std::min(line_, static_cast<double>(params_->least.count())));
    alpha_ = (1 - params_->gain) * alpha_ + params_->gain;
    by_timer_ = 0;
    by_bytes_ = 0;
    bytes_ = 0;
    alpha_due_ = now + params_->gain_timer;
    rise_due_ = now + params_->rate_timer;
}

void DcqcnRate::sent(std::uint64_t bytes, Time now) {
    advance(now);
    if (rate_ >= line_)
        return;
    bytes_ += bytes;
    for (; bytes_ >= params_->rate_bytes.count(); bytes_ -= params_->rate_bytes.count()) {
        ++by_bytes_;
        rise();
    }
}

double DcqcnRate::rate(Time now) {
    advance(now);
    return rate_;
}

double DcqcnRate::congestion(Time now) {
    advance(now);
    return alpha_;
}

void DcqcnRate::advance(Time now) {
    if (alpha_due_ <= now) {
        const std::uint64_t falls = (now - alpha_due_).count() / params_->gain_timer.count() + 1;
        alpha_ *= std::pow(1 - params_->gain, static_cast<double>(falls));
        alpha_due_ += params_->gain_timer * falls;
    }
    while (rise_due_ <= now && rate_ < line_) {
        ++by_timer_;
        rise();
        rise_due_ += params_->rate_timer;
    }
    // At the line's rate no timer has an effect; it begins again with the next notification.
    if (rise_due_ <= now)
        rise_due_ = now + params_->rate_timer;
}

void DcqcnRate::rise() {
    const std::uint32_t most = std::max(by_timer_, by_bytes_);
    const std::uint32_t least = std::min(by_timer_, by_bytes_);
    if (least > params_->recoveries)
        target_ += static_cast<double>(params_->hyper.count()) * (least - params_->recoveries);
    else if (most >= params_->recoveries)
        target_ += static_cast<double>(params_->additive.count());
    target_ = std::min(target_, line_);
    rate_ = (rate_ + target_) / 2;
    // Halving the distance never ends it.
    if (rate_ > line_ * (1 - 1e-6))
        rate_ = line_;
}

}  // namespace switchfold
